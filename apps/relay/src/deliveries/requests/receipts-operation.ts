import { relayReceiptsAnswer, relayReceiptsParameters, relayReceiptsPath } from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { pushAccountOf } from '../../registrations/store/addressee.js';
import { server } from '../../servers/authenticate-server.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import type { ServerQuotas } from '../../servers/server-quotas.js';
import type { Receipt, ReceiptStore } from '../queue/receipt-store.js';

interface ReceiptsContext {
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take'>;
  readonly deliveries: { readonly receipts: Pick<ReceiptStore, 'find'> };
}

/**
 * Returns the outcomes of a server's notifications that were queued or have an id from the server, until one day after
 * the last change. Omits unknown ids.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; REQUEST_VARIABLE_MISSING and BAD_REQUEST
 * for missing or invalid `ids`, which also cost one unit of the quota.
 */
export const findReceipts = operation({
  method: 'GET',
  path: relayReceiptsPath,
  summary: 'Returns the delivery status of notifications.',
  actor: server,
  parameters: relayReceiptsParameters,
  answer: relayReceiptsAnswer,
  codes: ['RATE_LIMIT_HIT'],
  charge: ({ quotas }: ReceiptsContext, { serverId }) => quotas.take(serverId, 1),
  async handle({ deliveries }: ReceiptsContext, { actor: { serverId }, parameters: { ids } }) {
    const receipts = await deliveries.receipts.find(serverId, ids);
    return { receipts: receipts.map(formatReceipt) };
  },
});

function formatReceipt(receipt: Receipt) {
  const { notificationId, relayDeviceId, addressee, status, reason, fault, attempts, updatedAt } = receipt;
  const account = pushAccountOf(addressee);
  return {
    notification_id: notificationId,
    device_id: relayDeviceId,
    ...(account !== undefined && { push_account_id: account }),
    status,
    ...(reason !== undefined && { reason }),
    ...(fault !== undefined && { fault }),
    attempts,
    updated_at: unixSeconds(updatedAt),
  };
}
