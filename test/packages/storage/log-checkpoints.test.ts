import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import { columnTypes, type MigrationSet } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
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
const mebibyte = 1024 * 1024;
const limit = 32 * mebibyte;
const writerProgram = fileURLToPath(new URL('../../support/sqlite-writer.ts', import.meta.url));

/** Commits so many notes of one mebibyte each. */
async function writeMebibytes(database: DatabaseWithJobs<Tables>, count: number): Promise<void> {
  for (let written = 0; written < count; written++) {
    await database.write(({ db }) =>
      db
        .insertInto('notes')
        .values({ text: sql`hex(randomblob(${mebibyte / 2}))` })
        .execute(),
    );
  }
}

const count = async ({ db }: DatabaseWithJobs<Tables>) =>
  (await db.selectFrom('notes').select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count;

describe('the write-ahead log of a SQLite file', () => {
  const backend = sqliteBackend();

  async function open(options: { onJobError?: (error: unknown) => void } = {}) {
    const url = await backend.freshUrl();
    const path = url.slice('sqlite:'.length);
    const database = await backend.open<Tables>({ migrations: [notes], url, ...options });
    return { database, path, logBytes: () => statSync(`${path}-wal`).size };
  }

  it('is copied back while a process writes', async () => {
    const { database, path } = await open();
    await writeMebibytes(database, 40);
    // What was copied back is in the file itself; nothing else would write there before the database is closed.
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(limit), { timeout: 20_000 });
    expect(await count(database)).toBe(40);
  });

  it('grows while a reader holds it back, and is cut when there is more after that', async () => {
    const { database, path, logBytes } = await open();
    await writeMebibytes(database, 1);
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('begin');
    expect(reader.prepare('select count(*) as count from notes').get()).toMatchObject({ count: 1 });
    await writeMebibytes(database, 48);
    expect(logBytes()).toBeGreaterThan(48 * mebibyte);
    expect(reader.prepare('select count(*) as count from notes').get()).toMatchObject({ count: 1 });
    reader.exec('commit');
    reader.close();
    await vi.waitFor(
      async () => {
        await writeMebibytes(database, 4);
        expect(logBytes()).toBeLessThanOrEqual(limit + 8 * mebibyte);
      },
      { timeout: 30_000 },
    );
  });

  it('is shared with a process that writes beside it, and nothing that either commits is lost', async () => {
    const { database, path } = await open();
    const other = spawn(
      process.execPath,
      ['--conditions=source', '--import', 'tsx', writerProgram, path, '40'],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    const ended = once(other, 'exit');
    await writeMebibytes(database, 40);
    expect(await ended).toEqual([0, null]);
    expect(await count(database)).toBe(80);
    const { integrity_check: verdict } = (
      await sql<{ integrity_check: string }>`select * from pragma_integrity_check`.execute(database.db)
    ).rows[0] as { integrity_check: string };
    expect(verdict).toBe('ok');
  });

  it.each([
    ['its size cannot be told', '-wal', (path: string) => symlinkSync(path, path), rmSync],
    ['the thread cannot open the file', '', (path: string) => mkdirSync(path), rmdirSync],
  ])('is copied back by the writer, and each write done once, where %s', async (_, ending, block, free) => {
    const told: unknown[] = [];
    const { database, path } = await open({ onJobError: (error) => told.push(error) });
    await writeMebibytes(database, 1);
    const blocked = `${path}${ending}`;
    const aside = `${blocked}-aside`;
    renameSync(blocked, aside);
    block(blocked);
    await writeMebibytes(database, 40);
    await vi.waitFor(() => expect(told).toHaveLength(1), { timeout: 20_000 });
    free(blocked);
    renameSync(aside, blocked);
    await writeMebibytes(database, 2);
    expect(statSync(path).size).toBeGreaterThan(limit);
    expect(await count(database)).toBe(43);
    await database.close();
    expect(told).toHaveLength(1);
  });
});
