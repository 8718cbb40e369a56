import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { forgetLeftChannelsJob } from '#server/conversations/messages/push/message-jobs.js';
import { waitingForLocks } from '../../../../support/lock-waits.js';
import { eachPostgres } from '../../../../support/test-databases.js';
import { sharedPush } from './push-under-test.js';

eachPostgres((postgres) => {
  const push = sharedPush(postgres);
  const db = () => push.server.server.database.db;
  const jobsOfLeaving = () =>
    sql`select id from jobs where kind = ${forgetLeftChannelsJob}`
      .execute(db())
      .then(({ rows }) => rows.length);

  describe('a message during its push notification', () => {
    it('is retracted if its reader leaves the channel meanwhile', async () => {
      const name = 'left meanwhile';
      const channel = await push.channel([push.ada, push.bob], { name });
      const subscriptions = JSON.stringify([name]);
      let id = 0;
      const told = await push.arriving(async () => {
        const { leaving } = await db()
          .transaction()
          .execute(async (transaction) => {
            // The server reads this table after it has selected the phones to notify. The request to leave does not
            // read it.
            await sql`lock table message_edits in access exclusive mode`.execute(transaction);
            id = await push.sendToChannel(channel, push.mention);
            await expect.poll(() => waitingForLocks(db()), { timeout: 20_000 }).toBe(1);
            let hasLeft = false;
            const leaving = push
              .do(push.ada, 'DELETE', 'users/me/subscriptions', { subscriptions })
              .finally(() => {
                hasLeft = true;
              });
            const isForgotten = async () => hasLeft && (await jobsOfLeaving()) === 0;
            const isSettled = async () => (await waitingForLocks(db())) === 2 || (await isForgotten());
            await expect.poll(isSettled, { timeout: 20_000 }).toBe(true);
            return { leaving };
          });
        await leaving;
      });
      expect(told.filter(({ type }) => type === 'remove')).toMatchObject([{ message_ids: [id] }]);
    });
  });
});
