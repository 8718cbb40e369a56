import { expect, it } from 'vitest';
import { whileLocked } from '../../../support/lock-waits.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);

  it('deactivating a user does not deadlock with a transaction that locks queues in order', async () => {
    const { db } = organisation.server.server.database;
    const queueOf = async (who: 'second' | 'member') =>
      String((await organisation.do(who, 'POST', 'register')).queue_id);
    // Publishing locks queues in ID order, so the remaining user's queue must have the lower ID.
    let staying: string;
    let leaving: string;
    do {
      staying = await queueOf('second');
      leaving = await queueOf('member');
    } while (leaving < staying);
    const take = (queueId: string) =>
      db.selectFrom('event_queues').select('queue_id').where('queue_id', '=', queueId).forUpdate().noWait();
    const answer = await whileLocked(
      db,
      (transaction) => transaction.executeQuery(take(staying)),
      () => organisation.ask('owner', 'DELETE', `users/${organisation.id('member')}`),
      async (transaction) => {
        const { rows } = await transaction.executeQuery(take(leaving));
        expect(rows).toEqual([{ queue_id: leaving }]);
      },
    );
    expect(answer.status).toBe(200);
    const left = db.selectFrom('event_queues').select('user_id').distinct();
    expect(await left.execute()).toEqual([{ user_id: organisation.id('second') }]);
  });
});
