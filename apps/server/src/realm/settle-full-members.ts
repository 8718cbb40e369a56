import type { ServerContext } from '../context.js';
import { everybody } from '../event-queues/everybody.js';
import { memberEvents } from '../groups/member-events.js';
import { settleRoleGroups } from '../groups/settle-role-groups.js';
import { readRealmSetting } from './realm-setting-store.js';

/** Makes full members of those who have been here for the waiting period by now, and tells everybody. */
export async function settleFullMembers({
  clock,
  database,
  publish,
}: Pick<ServerContext, 'clock' | 'database' | 'publish'>): Promise<void> {
  const now = clock();
  await database.writeAlone(async (transaction) => {
    const { db } = transaction;
    const waitingPeriodDays = await readRealmSetting(db, 'waiting_period_threshold');
    const events = memberEvents(await settleRoleGroups(db, { waitingPeriodDays, now }));
    const audience = events.length === 0 ? [] : await everybody(db);
    await publish(
      transaction,
      events.map((event) => ({ event, audience })),
    );
  });
}
