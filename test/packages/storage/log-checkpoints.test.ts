import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import { columnTypes, DatabaseUnavailableError, type MigrationSet } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { LogCheckpoints } from '#storage/sqlite/log-checkpoints.js';
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

/** Commits this many notes of the given size, 1 MiB by default. */
async function writeMebibytes(
  database: DatabaseWithJobs<Tables>,
  count: number,
  mebibytes = 1,
): Promise<void> {
  for (let written = 0; written < count; written++) {
    await database.write(({ db }) =>
      db
        .insertInto('notes')
        .values({ text: sql`hex(randomblob(${(mebibytes * mebibyte) / 2}))` })
        .execute(),
    );
  }
}

/** Simulates an operator's program that reads the notes and keeps its snapshot open. */
function readForLong(path: string): InstanceType<typeof DatabaseSync> {
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('begin');
  reader.prepare('select count(*) from notes').get();
  return reader;
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

  it('is checkpointed while a process writes', async () => {
    const { database, path } = await open();
    await writeMebibytes(database, 40);
    // Checkpointed data is in the file itself. Only a checkpoint writes to the file before the database is closed.
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(limit), { timeout: 20_000 });
    expect(await count(database)).toBe(40);
  });

  it('grows while a reader blocks the checkpoint, and is truncated by the first write after the reader ends', async () => {
    const { database, path, logBytes } = await open();
    await writeMebibytes(database, 1);
    const reader = readForLong(path);
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

  /**
   * Fills the log while a reader is active, ends the reader, and checks the result. `breakThread` returns a function
   * that repairs the thread.
   */
  async function fillBesideReader(breakThread: (path: string) => () => void): Promise<void> {
    const { database, path, logBytes } = await open({ onJobError: () => undefined });
    await writeMebibytes(database, 1);
    const reader = readForLong(path);
    const mend = breakThread(path);
    // The second commit starts just below the limit, and may have the maximum size of one commit.
    const refusal = await writeMebibytes(database, 3, 110).catch((error: unknown) => error);
    mend();
    expect(refusal).toBeInstanceOf(DatabaseUnavailableError);
    expect(refusal).toMatchObject({ message: expect.stringContaining(`${path}-wal is full (2`) });
    const fullBytes = logBytes();
    expect(fullBytes).toBeGreaterThan(220 * mebibyte);
    expect(fullBytes).toBeLessThan(256e6);
    expect(database.logBytes()).toBe(fullBytes);
    const single = database.db.insertInto('notes').values({ text: 'more' }).execute();
    await expect(single).rejects.toThrow(DatabaseUnavailableError);
    expect(await database.check()).toContain(`cannot be written: the write-ahead log ${path}-wal is full`);
    expect(logBytes()).toBe(fullBytes);
    const before = await count(database);
    reader.exec('commit');
    reader.close();
    await vi.waitFor(() => writeMebibytes(database, 1), { timeout: 20_000 });
    expect(await count(database)).toBe(before + 1);
    expect(logBytes()).toBeLessThan(limit);
  }

  it('stays below 256 MB while a reader blocks it, because writes are refused until the reader ends', async () => {
    await fillBesideReader(() => () => undefined);
  }, 120_000);

  it('stays below 256 MB even without the checkpoint thread', async () => {
    await fillBesideReader((path) => {
      renameSync(path, `${path}-aside`);
      mkdirSync(path);
      return () => {
        rmdirSync(path);
        renameSync(`${path}-aside`, path);
      };
    });
  }, 120_000);

  it('is truncated without refusing writes if it is full and has no reader', async () => {
    const { database, path } = await open();
    await writeMebibytes(database, 1);
    const reader = readForLong(path);
    await writeMebibytes(database, 14, 8);
    await Promise.all([
      writeMebibytes(database, 6, 8),
      database.write(async ({ afterCommit }) =>
        afterCommit(() => {
          reader.exec('commit');
          reader.close();
        }),
      ),
    ]);
    expect(await count(database)).toBe(21);
    expect(database.logBytes()).toBeLessThan(64 * mebibyte);
  }, 120_000);

  it('is shared with another writing process without losing a commit of either', async () => {
    const { database, path } = await open();
    const other = spawn(
      process.execPath,
      ['--conditions=@waxwing/source', '--import', 'tsx', writerProgram, path, '40'],
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

  it('is checkpointed by the writer, and truncated when full, if the thread cannot start', async () => {
    const path = (await backend.freshUrl()).slice('sqlite:'.length);
    const writer = new DatabaseSync(path);
    writer.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table notes (text)');
    const told: unknown[] = [];
    const cannotStart = new Error('there is no thread left');
    const checkpoints = new LogCheckpoints({
      path,
      lockForWriting: async () => () => undefined,
      onError: (error) => told.push(error),
      copyInline: () => writer.exec('pragma wal_autocheckpoint = 1000'),
      emptyInline: () => writer.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0,
      startThread: () => {
        throw cannotStart;
      },
    });
    const write = (mebibytes: number) => {
      writer.exec(`insert into notes values (hex(randomblob(${(mebibytes * mebibyte) / 2})))`);
      checkpoints.committed();
    };
    write(130);
    await checkpoints.makeRoom();
    expect(statSync(`${path}-wal`).size).toBe(0);
    write(40);
    write(40);
    expect(statSync(path).size).toBeGreaterThan(200 * mebibyte);
    await checkpoints.close();
    writer.close();
    expect(told).toEqual([cannotStart]);
  });

  it.each([
    ['its size cannot be read', '-wal', (path: string) => symlinkSync(path, path), rmSync],
    ['the thread cannot open the file', '', (path: string) => mkdirSync(path), rmdirSync],
  ])('is checkpointed by the writer, and each write runs once, if %s', async (_, ending, block, free) => {
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
