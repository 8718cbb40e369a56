import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Kysely } from 'kysely';
import type { Unrenewed } from '../registrations/remove-unrenewed.js';
import type { AddressedEvent } from '../server-push-options.js';
import type { PushDeviceId, PushTransaction, ServerPushTables } from '../tables.js';
import { pushDeviceEvent, registeredAt } from './push-device-state.js';
import { deadRegistrationCode, freedBy } from './push-device-store.js';
import { enqueueRemoval } from './remove-relay-devices.js';

type Db = Kysely<ServerPushTables>;

/** Removes PushDevices whose phone no longer registers. */
export function removingUnrenewedPushDevices(database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>) {
  return {
    name: 'push-devices/remove-unrenewed',
    rowKind: 'unrenewed-push-device',
    async read(db: Db, after: PushDeviceId, limit: number) {
      const rows = await db
        .selectFrom('push_devices')
        .select(['id', 'registered_at', 'changed_at'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ id: row.id, registeredAt: registeredAt(row) }));
    },
    async remove(
      transaction: PushTransaction,
      ids: readonly PushDeviceId[],
      { before, ...when }: Unrenewed,
    ): Promise<AddressedEvent[]> {
      const removed = await transaction.db
        .deleteFrom('push_devices')
        .where('id', 'in', ids)
        // Repeats the condition: a phone can register between the read and the deletion.
        .where(({ fn }) => fn.coalesce('registered_at', 'changed_at'), '<', before)
        .returning(['user_id', 'push_account_id', 'relay_device_id'])
        .execute();
      await enqueueRemoval(database, transaction, { freed: freedBy(removed), ...when });
      return removed.map(({ user_id, push_account_id }) => ({
        event: pushDeviceEvent(push_account_id, deadRegistrationCode),
        audience: [user_id],
      }));
    },
  };
}
