import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { TokenId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { lockingRows } from '@waxwing/storage';
import type { PublishEvents } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { forwardTokenAgain } from './enqueue-token-forwarding.js';
import { isAmong } from './freed-tokens.js';
import { dropDeadToken } from './pending-tokens.js';

interface TakenAgainOptions {
  readonly database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>;
  readonly publish: PublishEvents;
  readonly clock: Clock;
}

/**
 * Repairs devices that registered a token while a request to remove it was in flight: the relay may have removed the
 * token after the registration. A pending registration is forwarded again. A confirmed token is dropped, with an event
 * that makes the phone register again.
 */
export async function repairTakenAgain(
  { clock, database, publish }: TakenAgainOptions,
  transaction: PushTransaction,
  removed: readonly TokenId[],
): Promise<void> {
  const { db } = transaction;
  const rows = await db
    .selectFrom('client_devices')
    .selectAll()
    .where((is) => is.or([is('push_token_id', 'in', removed), is('pending_push_token_id', 'in', removed)]))
    .orderBy('id')
    .modifyEnd(lockingRows(db))
    .execute();
  for (const row of rows) {
    if (isAmong(removed, row.push_token_id)) {
      await publish(transaction, await dropDeadToken(transaction, row));
    }
    const isPending = row.pending_encrypted_registration !== null;
    if (!isPending || !isAmong(removed, row.pending_push_token_id)) continue;
    await forwardTokenAgain(database, transaction, row, clock());
  }
}
