import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { type DatabaseWithJobs, openDatabaseWithJobs } from '@waxwing/jobs';
import { columnTypes, DatabaseUnavailableError, type MigrationSet, migrationStatus } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sqliteBackend } from '../../support/test-databases.js';

interface Tables {
  notes: { text: string };
}

const notes: MigrationSet = {
  unit: 'notes',
  migrations: {
    '0001-notes': {
      up: (db: Kysely<unknown>) =>
        db.schema.createTable('notes').addColumn('text', columnTypes.text).execute(),
    },
  },
};
const holder = fileURLToPath(new URL('../../support/sqlite-holder.ts', import.meta.url));

function pathOf(url: string): string {
  return url.slice('sqlite:'.length);
}

function insert(database: DatabaseWithJobs<Tables>, text: string): Promise<unknown> {
  return database.write(({ db }) => db.insertInto('notes').values({ text }).execute());
}

async function count(database: DatabaseWithJobs<Tables>): Promise<number> {
  return (await database.db.selectFrom('notes').select('text').execute()).length;
}

describe('a SQLite file', () => {
  const backend = sqliteBackend();

  it('is readable only by its owner, as are its companion files', async () => {
    const path = pathOf(await backend.freshUrl());
    const database = await backend.open<Tables>({ migrations: [notes], url: `sqlite:${path}` });
    await insert(database, 'a');
    const modes = ['', '-wal', '-shm', '.serving'].map((suffix) => statSync(`${path}${suffix}`).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
  });

  it('is complete in one file after its process has stopped, so that a copy is a backup', async () => {
    const path = pathOf(await backend.freshUrl());
    const database = await backend.open<Tables>({ migrations: [notes], url: `sqlite:${path}` });
    for (const text of ['a', 'b']) await insert(database, text);
    expect(await count(database)).toBe(2);
    await database.close();
    const copy = `${path}.copy`;
    copyFileSync(path, copy);
    const restored = await backend.open<Tables>({ migrations: [notes], url: `sqlite:${copy}` });
    expect(await count(restored)).toBe(2);
  });

  it.each(['serving', 'visiting'] as const)(
    'is not created in a missing folder, by a %s process',
    async (role) => {
      const here = dirname(pathOf(await backend.freshUrl()));
      const open = (path: string) =>
        backend.open<Tables>({ migrations: [notes], url: `sqlite:${path}`, role });
      const folder = join(here, 'mistyped');
      await expect(open(join(folder, 'x.sqlite'))).rejects.toThrow(
        `because there is no folder ${folder}: create it with mkdir -m 700, or correct the path.`,
      );
      expect(existsSync(folder)).toBe(false);
      writeFileSync(join(here, 'file'), '');
      await expect(open(join(here, 'file', 'x.sqlite'))).rejects.toThrow('is a file and not a folder');
      await expect(open(here)).rejects.toThrow(`The database ${here} is a folder: name a file in it.`);
      await expect(backend.open({ migrations: [notes], url: 'relay.sqlite', role })).rejects.toThrow(
        'The database URL has no scheme: write sqlite:<file> or postgres://….',
      );
    },
  );

  it.each(['serving', 'visiting'] as const)(
    'is rejected by a %s process, with the remedy, if other users have access to it',
    async (role) => {
      const url = await backend.freshUrl();
      const path = pathOf(url);
      const first = await backend.open<Tables>({ migrations: [notes], url, role: 'visiting' });
      await insert(first, 'a');
      for (const suffix of ['', '-wal', '-shm']) {
        for (const mode of [0o644, 0o640, 0o602]) {
          chmodSync(path + suffix, mode);
          await expect(backend.open({ migrations: [notes], url, role })).rejects.toThrow(
            `${path}${suffix} has mode 0${mode.toString(8)}, which lets others use it: run chmod 600 ${path}${suffix}`,
          );
        }
        symlinkSync(path, `${path}${suffix}.link`);
        await expect(
          backend.open({ migrations: [notes], url: `${url}${suffix}.link`, role }),
        ).rejects.toThrow(`run chmod 600 ${path}${suffix}`);
        chmodSync(path + suffix, 0o600);
      }
      await expect(backend.open({ migrations: [notes], url, role })).resolves.toBeDefined();
    },
  );

  it('is refused to a second serving process, but not to a command', async () => {
    const url = await backend.freshUrl();
    await backend.open({ migrations: [], url });
    await expect(backend.open({ migrations: [], url })).rejects.toThrow(
      `${pathOf(url)} is in use by another serving process`,
    );
    await expect(backend.open({ migrations: [], url, role: 'visiting' })).resolves.toBeDefined();
  });

  it('is refused to a second serving process under another name', async () => {
    const url = await backend.freshUrl();
    await backend.open({ migrations: [], url });
    symlinkSync(pathOf(url), `${pathOf(url)}.link`);
    await expect(backend.open({ migrations: [], url: `${url}.link` })).rejects.toThrow(
      'is in use by another serving process',
    );
  });

  it('stays locked by its process if the process opens it again', async () => {
    const url = await backend.freshUrl();
    await backend.open({ migrations: [], url });
    await expect(backend.open({ migrations: [], url })).rejects.toThrow('another serving process');
    const other = spawn(process.execPath, [
      '--conditions=@waxwing/source',
      '--import',
      'tsx',
      holder,
      pathOf(url),
    ]);
    const said: string[] = [];
    other.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
    other.stdout.once('data', () => other.kill());
    expect(await once(other, 'close')).toEqual([1, null]);
    expect(said.join('')).toContain('is in use by another serving process');
  });

  it('is rejected with the path of its lock if it cannot be locked, even under another name', async () => {
    const url = await backend.freshUrl();
    writeFileSync(pathOf(url), '', { mode: 0o600 });
    symlinkSync(pathOf(url), `${pathOf(url)}.link`);
    mkdirSync(`${pathOf(url)}.serving`);
    await expect(backend.open({ migrations: [], url: `${url}.link` })).rejects.toThrow(
      `cannot be locked through ${realpathSync(pathOf(url))}.serving: `,
    );
  });

  it('is rejected and stays unchanged if it belongs to another program', async () => {
    const path = pathOf(await backend.freshUrl());
    const other = new DatabaseSync(path);
    other.exec('create table songs (name text)');
    other.close();
    chmodSync(path, 0o600);
    const before = readFileSync(path);
    for (const role of ['visiting', 'serving'] as const) {
      await expect(backend.open({ migrations: [], url: `sqlite:${path}`, role })).rejects.toThrow(
        `The file ${path} is another program's database (it has a table songs): use a different file.`,
      );
    }
    await expect(migrationStatus({ url: `sqlite:${path}`, migrations: [] })).rejects.toThrow(
      'another program',
    );
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('survives a power failure: each commit waits for the disk', async () => {
    const database = await backend.open<Tables>({ migrations: [notes] });
    const settings = await database.write(async ({ db }) => {
      const { rows } = await sql<Record<string, unknown>>`
        select journal_mode, synchronous, foreign_keys
        from pragma_journal_mode, pragma_synchronous, pragma_foreign_keys`.execute(db);
      return rows;
    });
    expect(settings).toEqual([{ journal_mode: 'wal', synchronous: 2, foreign_keys: 1 }]);
  });

  it('is unlocked immediately and complete after its process is killed', async () => {
    const url = await backend.freshUrl();
    const child = spawn(
      process.execPath,
      ['--conditions=@waxwing/source', '--import', 'tsx', holder, pathOf(url)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(child.stdout, 'data');
    await expect(backend.open({ migrations: [], url })).rejects.toThrow('another serving process');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const database = await backend.open({ migrations: [], url });
    const [job] = await database.jobs.list({ kind: 'k' });
    expect(await database.jobs.show(job?.id ?? '')).toMatchObject({ payload: 'committed' });
  });

  it('is rejected with an explanation if it is not a database, even if it cannot be locked', async () => {
    const path = pathOf(await backend.freshUrl());
    writeFileSync(path, 'something else entirely, and long enough to be looked at\n'.repeat(100), {
      mode: 0o600,
    });
    const opening = backend.open({ migrations: [], url: `sqlite:${path}` });
    await expect(opening).rejects.toThrow(`The database file ${path} cannot be opened`);
    writeFileSync(`${path}.other.serving`, 'not a lock either\n'.repeat(100));
    const locking = backend.open({ migrations: [], url: `sqlite:${path}.other` });
    await expect(locking).rejects.toThrow('cannot be locked');
  });

  it('reports the error of a failed write without a lock', async () => {
    const database = await backend.open<Tables>({ migrations: [notes] });
    const wrong = sql`insert into notes (colour) values (1)`.execute(database.db);
    await expect(wrong).rejects.toThrow('no column named colour');
  });

  it('waits for a writing command, without blocking the process', async () => {
    const url = await backend.freshUrl();
    const serving = await backend.open<Tables>({ migrations: [notes], url });
    const command = await backend.open<Tables>({ migrations: [notes], url, role: 'visiting' });
    let written: Promise<unknown> | undefined;
    await command.write(async ({ db }) => {
      await db.insertInto('notes').values({ text: 'of the command' }).execute();
      written = insert(serving, 'of the process');
      // The other connection retries during these event-loop ticks.
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(await count(serving)).toBe(0);
    });
    await written;
    expect(await count(serving)).toBe(2);
  });
});

describe('a full disk', () => {
  const backend = sqliteBackend();

  it('makes writes fail without partial results until there is space', async () => {
    const database = await backend.open<Tables>({ migrations: [notes], role: 'visiting' });
    await insert(database, 'before');
    const pages = await sql<{ page_count: number }>`select page_count from pragma_page_count()`.execute(
      database.db,
    );
    await setMaximumPages(database, (pages.rows[0]?.page_count ?? 0) + 2);
    const big = 'x'.repeat(100_000);
    const results = await Promise.allSettled([
      insert(database, big),
      insert(database, big),
      insert(database, 'small'),
    ]);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) {
      expect(error).toBeInstanceOf(DatabaseUnavailableError);
      expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryAfterSeconds: 5 });
      expect(error.message).toContain('free some space');
    }
    expect(await count(database)).toBe(1 + results.length - refused.length);
    await setMaximumPages(database, 1_000_000);
    await insert(database, big);
    expect(await count(database)).toBe(2 + results.length - refused.length);
  });
});

describe('a database URL', () => {
  it('is rejected without showing a possible password if its kind is unknown', async () => {
    const open = (url: string) =>
      openDatabaseWithJobs({
        url,
        migrations: [],
        role: 'serving',
        now: Date.now,
        onJobError: () => undefined,
      });
    await expect(open('mysql://me:hunter2@host/x')).rejects.toThrow(/^(?!.*hunter2).*begins with "mysql"/);
    await expect(open('/var/lib/x.sqlite')).rejects.toThrow('write sqlite:<file>');
    await expect(open('sqlite:')).rejects.toThrow('names no file');
  });
});

/** Makes SQLite report a full file system. */
async function setMaximumPages(database: DatabaseWithJobs<Tables>, pages: number): Promise<void> {
  await sql`pragma max_page_count = ${sql.lit(pages)}`.execute(database.db);
}
