import type { ServerContext } from '../../context.js';
import { memberEvents } from '../groups/member-events.js';
import { settleRoleGroups } from '../groups/settle-role-groups.js';
import { readRealmSetting } from './realm-setting-store.js';

/** Promotes members to full members once the waiting period has passed, and notifies all users. */
export async function settleFullMembers({
  clock,
  database,
  publish,
}: Pick<ServerContext, 'clock' | 'database' | 'publish'>): Promise<void> {
  const now = clock();
  await database.writeSingle(async (transaction) => {
    const { db } = transaction;
    const waitingPeriodDays = await readRealmSetting(db, 'waiting_period_threshold');
    const events = memberEvents(await settleRoleGroups(db, { waitingPeriodDays, now }));
    await publish(
      transaction,
      events.map((event) => ({ event, audience: 'everyone' as const })),
    );
  });
}
