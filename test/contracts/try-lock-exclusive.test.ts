import type { DatabaseWithJobs } from '@waxwing/jobs';
import { tryLockExclusive } from '@waxwing/storage';
import { expect, it } from 'vitest';
import { eachBackend } from '../support/test-databases.js';

eachBackend((backend) => {
  it('a named lock has one holder at a time, and other transactions do not wait for it', async () => {
    const database: DatabaseWithJobs<unknown> = await backend.open({ migrations: [] });
    const { db } = database;
    const ask = async (asking: typeof db, name: string) => {
      const { held } = await asking
        .selectNoFrom(tryLockExclusive(asking, name).as('held'))
        .executeTakeFirstOrThrow();
      return Boolean(held);
    };
    const seen = await db.transaction().execute(async (holder) => {
      const first = await ask(holder, 'ada');
      const again = await ask(holder, 'ada');
      // SQLite runs one write transaction at a time, so there the lock holder itself tries again, which succeeds.
      const other = backend.name === 'sqlite' ? holder : db;
      return [first, again, await ask(other, 'bob'), await ask(other, 'ada')];
    });
    expect(seen).toEqual([true, true, true, backend.name === 'sqlite']);
    expect(await database.write((transaction) => ask(transaction.db, 'ada'))).toBe(true);
  });
});
