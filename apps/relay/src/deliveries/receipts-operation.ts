import { relayReceiptsAnswer, relayReceiptsParameters, relayReceiptsPath } from '@waxwing/protocol';
import { operation, unixSeconds } from '@waxwing/service';
import { server } from '../servers/authenticate-server.js';
import type { NotifyContext } from './notify-operation.js';
import type { Receipt } from './receipt-store.js';

/**
 * Tells a server what became of its notifications: of those that were queued, and of those that it gave an id, for a day
 * after the last change. Ids that are not remembered are left out.
 *
 * Refuses, checked in this order: UNAUTHORIZED; REQUEST_VARIABLE_MISSING and BAD_REQUEST for `ids`; RATE_LIMIT_HIT with
 * HTTP 503.
 */
export const findReceipts = operation({
  method: 'GET',
  path: relayReceiptsPath,
  summary: 'Tells what became of notifications.',
  actor: server,
  parameters: relayReceiptsParameters,
  answer: relayReceiptsAnswer,
  codes: ['RATE_LIMIT_HIT'],
  async handle({ deliveries }: NotifyContext, { actor: { serverId }, parameters: { ids } }) {
    deliveries.quotas.take(serverId, 1);
    const receipts = await deliveries.receipts.find(serverId, ids);
    return { receipts: receipts.map(formatReceipt) };
  },
});

function formatReceipt(receipt: Receipt) {
  const { notificationId, relayDeviceId, status, reason, fault, attempts, updatedAt } = receipt;
  return {
    notification_id: notificationId,
    device_id: relayDeviceId,
    status,
    ...(reason !== undefined && { reason }),
    ...(fault !== undefined && { fault }),
    attempts,
    updated_at: unixSeconds(updatedAt),
  };
}
