import { setImmediate } from 'node:timers/promises';
import type { UserId } from '@waxwing/protocol';
import { readPages } from '@waxwing/storage';
import type { ServerContext } from '../../context.js';
import { memberEvents } from '../groups/member-events.js';
import { settleRoleGroups } from '../groups/settle-role-groups.js';
import { readRealmSetting } from './realm-setting-store.js';

type Context = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/** Users per transaction. A single transaction for 100,000 users would block other requests for half a second. */
const usersPerTransaction = 500;

/**
 * Promotes members to full members once the waiting period has passed, and notifies all users. Checks all users in
 * batches, and stops after a batch when the signal is aborted.
 */
export async function settleFullMembers(context: Context, signal: AbortSignal): Promise<void> {
  const { db } = context.database;
  const pages = readPages<{ readonly id: UserId }>(usersPerTransaction, (last) => {
    const users = db.selectFrom('users').select('id').orderBy('id').limit(usersPerTransaction);
    return users
      .$if(last !== undefined, (query) => query.where('id', '>', last?.id ?? (0 as UserId)))
      .execute();
  });
  for await (const page of pages) {
    if (signal.aborted) return;
    // Lets other requests run: on SQLite, statements do not yield to the event loop.
    await setImmediate();
    await settle(
      context,
      page.map(({ id }) => id),
    );
  }
}

async function settle({ clock, database, publish }: Context, userIds: readonly UserId[]): Promise<void> {
  await database.writeSingle(async (transaction) => {
    const { db } = transaction;
    const waitingPeriodDays = await readRealmSetting(db, 'waiting_period_threshold');
    const events = memberEvents(await settleRoleGroups(db, { userIds, waitingPeriodDays, now: clock() }));
    await publish(
      transaction,
      events.map((event) => ({ event, audience: 'everyone' as const })),
    );
  });
}
