import {
  type AnyPushRequest,
  isApnsPushRequest,
  isPaddedBase64,
  notifyBodyLimitBytes,
  type RelayNotifyAnyAnswer,
  type RelayNotifyResult,
  refused,
  relayNotifyAnyAnswer,
  relayNotifyPath,
  relayNotifyRequest,
} from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { currentTraceparent } from '@waxwing/service/tracing';
import { server } from '../../servers/authenticate-server.js';
import { findRealm } from '../../servers/find-realm.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import { costOfBody, type ServerQuotas } from '../../servers/server-quotas.js';
import { reportOutcome } from '../queue/receipt-store.js';
import type { DeliverNotifications, DeliveryResult } from './deliver-notifications.js';
import { waitingServer } from './waiting-server.js';

interface NotifyContext {
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take' | 'takeAll'>;
  readonly deliveries: Pick<DeliverNotifications, 'requireRoom' | 'deliver'>;
}

/** Number of notifications above which looking up devices and starting deliveries takes several milliseconds. */
const manyNotifications = 200;

/**
 * Delivers notifications to devices of one realm (docs/protocol.md#remotespushe2eenotify). Tries each push request
 * immediately and returns the results in `results`, in order. Stores retries before it responds. `delete_device_ids`
 * lists devices with a dead token, unknown devices, and devices of another realm or account. It omits a device that
 * another push request in the same body reaches. A push request of the newer generation names a token instead of a
 * device: `delete_token_ids` lists dead and unknown tokens.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503 if the server's quota is used up;
 * BAD_REQUEST for an invalid body, which costs one unit of the quota; SERVICE_UNAVAILABLE if the relay is at its limit;
 * RATE_LIMIT_HIT if the quota does not cover all push requests; MISSING_REMOTE_REALM,
 * REMOTE_REALM_SERVER_MISMATCH_ERROR.
 */
export const notify = operation({
  method: 'POST',
  path: relayNotifyPath,
  summary: 'Delivers encrypted notifications to devices of one realm.',
  actor: server,
  body: 'json',
  parameters: relayNotifyRequest,
  bodyLimitBytes: notifyBodyLimitBytes,
  answer: relayNotifyAnyAnswer,
  codes: ['RATE_LIMIT_HIT', 'MISSING_REMOTE_REALM', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  waitsForOthers: true,
  charge: ({ quotas }: NotifyContext, { serverId }) => quotas.take(serverId, costOfBody),
  async handle({ deliveries, quotas, servers }: NotifyContext, request) {
    const { serverId } = request.actor;
    const { parameters } = request;
    const { realm_uuid: realmUuid, push_requests: pushRequests } = parameters;
    const notifications = pushRequests.length;
    quotas.takeAll(serverId, notifications, () => deliveries.requireRoom(serverId, notifications));
    const { realmId } = await findRealm(servers, serverId, realmUuid);
    requireTokenIds(pushRequests);
    // Parsing this many notifications has used up the current tick, so deliver them in the next one.
    if (notifications > manyNotifications) await request.nextTick({ isRefusable: false });
    const requester = { serverId, realmId, realmUuid, traceparent: currentTraceparent() };
    const results = await deliveries.deliver(requester, pushRequests, waitingServer(request));
    return formatAnswer(pushRequests, results);
  },
});

/**
 * Checks that each `token_id` is base64. An unknown token is not an error: the response lists its id for deletion.
 * @throws ProtocolError BAD_REQUEST for a `token_id` that is not base64.
 */
function requireTokenIds(requests: readonly AnyPushRequest[]): void {
  for (const request of requests) {
    if ('token_id' in request && !isPaddedBase64(request.token_id)) {
      throw refused('`token_id` is not Base64 encoded');
    }
  }
}

function formatAnswer(
  requests: readonly AnyPushRequest[],
  results: readonly DeliveryResult[],
): RelayNotifyAnyAnswer {
  const devices = new DevicesToDelete();
  const tokens = new Set<string>();
  let [androidCount, appleCount, tokenCount] = [0, 0, 0];
  requests.forEach((request, index) => {
    const kind = results[index]?.outcome.kind;
    if ('token_id' in request) {
      tokenCount += 1;
      if (kind === 'gone') tokens.add(request.token_id);
    } else devices.add(request.device_id, kind === 'gone');
    if (kind !== 'sent') return;
    if (isApnsPushRequest(request)) appleCount += 1;
    else androidCount += 1;
  });
  const answer: RelayNotifyAnyAnswer = {
    android_successfully_sent_count: androidCount,
    apple_successfully_sent_count: appleCount,
    realm_push_status: { can_push: true, expected_end_timestamp: null },
    results: results.map(formatResult),
  };
  // An empty request gets both lists: its server may be of either generation.
  if (tokenCount > 0 || requests.length === 0) answer.delete_token_ids = [...tokens];
  if (tokenCount < requests.length || requests.length === 0) answer.delete_device_ids = devices.list();
  return answer;
}

/**
 * Collects the devices that the server must delete, each once. Omits devices that another push request in the same body
 * reaches.
 */
class DevicesToDelete {
  readonly #gone = new Set<number | bigint>();
  readonly #reached = new Set<number | bigint>();

  add(id: number | bigint, isGone: boolean): void {
    (isGone ? this.#gone : this.#reached).add(id);
  }

  list(): (number | bigint)[] {
    return this.#gone.size === 0 ? [] : [...this.#gone].filter((id) => !this.#reached.has(id));
  }
}

function formatResult({ outcome, notification, isRemembered }: DeliveryResult): RelayNotifyResult {
  const { status, reason, fault } = reportOutcome(outcome);
  const app = outcome.kind === 'rejected' ? outcome.app : undefined;
  const result: RelayNotifyResult = { status };
  if (reason !== undefined) result.reason = reason;
  if (fault !== undefined) result.fault = fault;
  if (app !== undefined) result.app = app;
  if (isRemembered) result.notification_id = notification.notificationId;
  return result;
}
