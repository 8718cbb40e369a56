import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyTransaction, type Database, type JobOutcome, openDatabase } from '@waxwing/storage';
import { afterEach, describe, expect, it } from 'vitest';

const open: Database<unknown>[] = [];
let now = 1_000_000;
const errors: unknown[] = [];

async function database(
  path = join(mkdtempSync(join(tmpdir(), 'waxwing-storage-')), 'x.sqlite'),
  role: 'serving' | 'visiting' = 'serving',
) {
  const db = await openDatabase<unknown>({
    url: `sqlite:${path}`,
    migrations: [],
    role,
    now: () => now,
    onJobError: (e) => errors.push(e),
  });
  open.push(db);
  return { db, path };
}
afterEach(async () => {
  for (const db of open.splice(0)) {
    await db.jobs.stop(0);
    await db.close();
  }
  errors.length = 0;
});

describe('the job queue', () => {
  it('does a job once it is committed, and not one that was rolled back', async () => {
    const { db, path } = await database();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const done: string[] = [];
    db.jobs.handle('k', {
      concurrency: 2,
      run: async (job) => {
        done.push(job.payload);
        return { kind: 'done' };
      },
      giveUp: () => async () => {},
    });
    await db.jobs.start();
    const add = (payload: string, fail = false) =>
      db.write(async (tx: AnyTransaction) => {
        await db.jobs.enqueue(tx, { kind: 'k', payload, giveUpAt: now + 1000 });
        if (fail) throw new Error('no');
      });
    const results = await Promise.allSettled([add('a'), add('b', true), add('c'), add('d')]);
    expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    await db.jobs.idle();
    expect(done.sort()).toEqual(['a', 'c', 'd']);
    expect(errors).toEqual([]);
  });
  it('retries at the instant that the handler names and gives up at the instant that the job names', async () => {
    const { db } = await database();
    const outcomes: JobOutcome[] = [
      { kind: 'retry', at: now + 50, reason: 'busy' },
      { kind: 'retry', at: now + 5000, reason: 'still busy' },
    ];
    let runs = 0;
    let gaveUp = '';
    db.jobs.handle('k', {
      concurrency: 2,
      run: async () => outcomes[runs++] as JobOutcome,
      giveUp: (_job, reason) => async () => {
        gaveUp = reason;
      },
    });
    await db.jobs.start();
    await db.write(async (tx) => db.jobs.enqueue(tx, { kind: 'k', payload: '', giveUpAt: now + 1000 }));
    await db.jobs.idle();
    expect(runs).toBe(1);
    now += 50;
    await db.jobs.idle();
    expect(runs).toBe(2);
    now += 949;
    await db.jobs.idle();
    expect(gaveUp).toBe('');
    now += 1;
    await db.jobs.idle();
    expect([runs, gaveUp]).toEqual([2, 'still busy']);
  });
  it('refuses a second serving process and lets a command in beside it', async () => {
    const { path } = await database();
    await expect(database(path)).rejects.toThrow('in use by another serving process');
    await expect(database(path, 'visiting')).resolves.toBeDefined();
  });
});
