import { relayReceiptsParameters, relayReceiptsPath } from '@waxwing/protocol';
import type { Operation } from '@waxwing/service/http';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { type AuthenticatedServer, authenticateServer } from '../../servers/authenticate-server.js';
import type { NotifyOptions } from './notify-operation.js';

/**
 * Tells a server what became of its notifications: of those that were queued, and of those that it gave an id, for a day
 * after the last change. Ids that are not remembered are left out.
 *
 * Refuses, checked in this order: UNAUTHORIZED; REQUEST_VARIABLE_MISSING and BAD_REQUEST for `ids`; RATE_LIMIT_HIT with
 * HTTP 503.
 */
export function receiptsOperation({ servers, deliveries }: NotifyOptions): Operation<AuthenticatedServer> {
  return {
    method: 'GET',
    path: relayReceiptsPath,
    authenticate: (head) => authenticateServer(head, servers),
    async handle(request, { serverId }) {
      const { ids } = request.parameters(relayReceiptsParameters);
      deliveries.quotas.take(serverId, 1);
      const receipts = await deliveries.receipts.find(serverId, ids);
      return {
        receipts: receipts.map(
          ({ notificationId, relayDeviceId, status, reason, fault, attempts, updatedAt }) => ({
            notification_id: notificationId,
            device_id: relayDeviceId,
            status,
            ...(reason !== undefined && { reason }),
            ...(fault !== undefined && { fault }),
            attempts,
            updated_at: unixSeconds(updatedAt),
          }),
        ),
      };
    },
  };
}
