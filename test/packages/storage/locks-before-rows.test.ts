import { lockExclusive } from '@waxwing/storage';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { whileLocked } from '../../support/lock-waits.js';
import { eachPostgres } from '../../support/test-databases.js';

eachPostgres((backend) => {
  it('a batch that waits for a lock holds no row locks, so that it cannot deadlock', async () => {
    const database = await backend.open({ migrations: [] });
    await sql`create table counts (value integer)`.execute(database.db);
    await sql`insert into counts values (0)`.execute(database.db);
    await whileLocked(
      database.db,
      (transaction) => lockExclusive(transaction, 'birds'),
      () =>
        Promise.all([
          database.write(({ db }) => sql`update counts set value = value + 1`.execute(db)),
          database.writeFirst(({ db }) => lockExclusive(db, 'birds')),
        ]),
      // Fails if another transaction has locked the row.
      (transaction) => sql`select value from counts for update nowait`.execute(transaction),
    );
    const { rows } = await sql`select value from counts`.execute(database.db);
    expect(rows).toEqual([{ value: 1 }]);
    await database.close();
  });
});
