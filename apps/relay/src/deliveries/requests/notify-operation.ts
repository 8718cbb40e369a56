import {
  isApnsPushRequest,
  notifyBodyLimitBytes,
  type PushRequest,
  type RelayNotifyAnswer,
  type RelayNotifyResult,
  relayNotifyAnswer,
  relayNotifyPath,
  relayNotifyRequest,
} from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { server } from '../../servers/authenticate-server.js';
import { findRealm } from '../../servers/find-realm.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import { costOfBody, type ServerQuotas } from '../../servers/server-quotas.js';
import { reportOutcome } from '../queue/receipt-store.js';
import type { DeliverNotifications, DeliveryResult } from './deliver-notifications.js';

interface NotifyContext {
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take' | 'takeAll'>;
  readonly deliveries: Pick<DeliverNotifications, 'requireRoom' | 'deliver'>;
}

/**
 * Delivers notifications to devices of one realm (docs/protocol.md#remotespushe2eenotify). Tries each push request at
 * once and returns its result in `results`, in order. Stores retries before it answers. `delete_device_ids` lists
 * devices with a dead token, unknown devices, and devices of another realm or account. It omits an id that another push
 * request of the same body reaches: the server would delete that device too.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503 if the server's quota is used up;
 * BAD_REQUEST for the body, which costs one unit of the quota; SERVICE_UNAVAILABLE if the relay is full; RATE_LIMIT_HIT
 * if the quota does not cover all push requests; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR.
 */
export const notify = operation({
  method: 'POST',
  path: relayNotifyPath,
  summary: 'Delivers encrypted notifications to devices of one realm.',
  actor: server,
  body: 'json',
  parameters: relayNotifyRequest,
  bodyLimitBytes: notifyBodyLimitBytes,
  answer: relayNotifyAnswer,
  codes: ['RATE_LIMIT_HIT', 'MISSING_REMOTE_REALM', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  waitsForOthers: true,
  charge: ({ quotas }: NotifyContext, { serverId }) => quotas.take(serverId, costOfBody),
  async handle({ deliveries, quotas, servers }: NotifyContext, { actor: { serverId }, parameters }) {
    const { realm_uuid: realmUuid, push_requests: pushRequests } = parameters;
    const notifications = pushRequests.length;
    quotas.takeAll(serverId, notifications, () => deliveries.requireRoom(serverId, notifications));
    const { realmId } = await findRealm(servers, serverId, realmUuid);
    const results = await deliveries.deliver({ serverId, realmId, realmUuid }, pushRequests);
    return formatAnswer(pushRequests, results);
  },
});

function formatAnswer(
  requests: readonly PushRequest[],
  results: readonly DeliveryResult[],
): RelayNotifyAnswer {
  let androidCount = 0;
  let appleCount = 0;
  const gone = new Set<number | bigint>();
  const known = new Set<number | bigint>();
  requests.forEach((request, index) => {
    const kind = results[index]?.outcome.kind;
    (kind === 'gone' ? gone : known).add(request.device_id);
    if (kind !== 'sent') return;
    if (isApnsPushRequest(request)) appleCount += 1;
    else androidCount += 1;
  });
  return {
    android_successfully_sent_count: androidCount,
    apple_successfully_sent_count: appleCount,
    delete_device_ids: gone.size === 0 ? [] : [...gone].filter((id) => !known.has(id)),
    realm_push_status: { can_push: true, expected_end_timestamp: null },
    results: results.map(formatResult),
  };
}

function formatResult({ outcome, notification, isRemembered }: DeliveryResult): RelayNotifyResult {
  const { status, reason, fault } = reportOutcome(outcome);
  const result: RelayNotifyResult = { status };
  if (reason !== undefined) result.reason = reason;
  if (fault !== undefined) result.fault = fault;
  if (isRemembered) result.notification_id = notification.notificationId;
  return result;
}
