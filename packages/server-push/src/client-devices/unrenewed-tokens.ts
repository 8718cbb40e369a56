import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { ClientDeviceId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { Unrenewed } from '../registrations/remove-unrenewed.js';
import type { AddressedEvent } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { dropUnrenewedTokens } from './pending-tokens.js';
import { enqueueTokenRemoval } from './remove-tokens.js';

type Db = Kysely<ServerPushTables>;

/** Drops the tokens of phones that no longer register. Keeps the phones' devices and keys. */
export function removingUnrenewedTokens(database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>) {
  return {
    name: 'client-devices/remove-unrenewed',
    rowKind: 'unrenewed-push-token',
    async read(db: Db, after: ClientDeviceId, limit: number) {
      const rows = await db
        .selectFrom('client_devices')
        .select(['id', 'push_token_updated_at'])
        .where('id', '>', after)
        .where('push_token_id', 'is not', null)
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(({ id, push_token_updated_at: at }) => ({
        id,
        registeredAt: at ?? Number.POSITIVE_INFINITY,
      }));
    },
    async remove(
      transaction: PushTransaction,
      ids: readonly ClientDeviceId[],
      { before, ...when }: Unrenewed,
    ): Promise<readonly AddressedEvent[]> {
      const { events, freed } = await dropUnrenewedTokens(transaction, ids, before);
      await enqueueTokenRemoval(database, transaction, { freed, ...when });
      return events;
    },
  };
}
