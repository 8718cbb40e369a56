import {
  type AnyPushRequest,
  isApnsPushRequest,
  notifyBodyLimitBytes,
  type RelayNotifyAnyAnswer,
  type RelayNotifyResult,
  refused,
  relayNotifyAnyAnswer,
  relayNotifyPath,
  relayNotifyRequest,
  type TokenId,
} from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { findDevicesByToken } from '../../registrations/store/devices-by-token.js';
import { server } from '../../servers/authenticate-server.js';
import { findRealm } from '../../servers/find-realm.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import { costOfBody, type ServerQuotas } from '../../servers/server-quotas.js';
import type { RelayDatabase } from '../../tables.js';
import { reportOutcome } from '../queue/receipt-store.js';
import type { DeliverNotifications, DeliveryResult } from './deliver-notifications.js';

interface NotifyContext {
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take' | 'takeAll'>;
  readonly database: Pick<RelayDatabase, 'db'>;
  readonly deliveries: Pick<DeliverNotifications, 'requireRoom' | 'deliver'>;
}

/**
 * Delivers notifications to devices of one realm (docs/protocol.md#remotespushe2eenotify). Tries each push request at
 * once and returns its result in `results`, in order. Stores retries before it answers. Push requests of the newer
 * generation name a token: their dead and unknown tokens are in `delete_token_ids`. `delete_device_ids` lists
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
  answer: relayNotifyAnyAnswer,
  codes: ['RATE_LIMIT_HIT', 'MISSING_REMOTE_REALM', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  waitsForOthers: true,
  charge: ({ quotas }: NotifyContext, { serverId }) => quotas.take(serverId, costOfBody),
  async handle(
    { database, deliveries, quotas, servers }: NotifyContext,
    { actor: { serverId }, parameters },
  ) {
    const { realm_uuid: realmUuid, push_requests: pushRequests } = parameters;
    const notifications = pushRequests.length;
    quotas.takeAll(serverId, notifications, () => deliveries.requireRoom(serverId, notifications));
    const { realmId } = await findRealm(servers, serverId, realmUuid);
    const tokenIds = readTokenIds(pushRequests);
    const devicesByToken = await findDevicesByToken(database.db, realmId, tokenIds);
    const results = await deliveries.deliver({ serverId, realmId, realmUuid, devicesByToken }, pushRequests);
    return formatAnswer(pushRequests, results);
  },
});

// As stock peers decode it: padded, though its unused bits may be set. An id that no token has is named for deletion.
const strictBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @throws ProtocolError BAD_REQUEST for an id that is no base64. */
function readTokenIds(requests: readonly AnyPushRequest[]): TokenId[] {
  return requests.flatMap((request) => {
    if (!('token_id' in request)) return [];
    if (!strictBase64.test(request.token_id)) throw refused('`token_id` is not Base64 encoded');
    return [request.token_id as TokenId];
  });
}

function formatAnswer(
  requests: readonly AnyPushRequest[],
  results: readonly DeliveryResult[],
): RelayNotifyAnyAnswer {
  let androidCount = 0;
  let appleCount = 0;
  const [devices, tokens] = [new NamedToDelete<number | bigint>(), new NamedToDelete<string>()];
  requests.forEach((request, index) => {
    const kind = results[index]?.outcome.kind;
    if ('token_id' in request) tokens.add(request.token_id, kind === 'gone');
    else devices.add(request.device_id, kind === 'gone');
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
  if (tokens.isUsed) answer.delete_token_ids = tokens.list();
  if (devices.isUsed || !tokens.isUsed) answer.delete_device_ids = devices.list();
  return answer;
}

/** The devices that the server must delete, each once, and none that another push request of the same body reaches. */
class NamedToDelete<Name> {
  readonly #gone = new Set<Name>();
  readonly #reached = new Set<Name>();

  get isUsed(): boolean {
    return this.#gone.size + this.#reached.size > 0;
  }

  add(name: Name, isGone: boolean): void {
    (isGone ? this.#gone : this.#reached).add(name);
  }

  list(): Name[] {
    return this.#gone.size === 0 ? [] : [...this.#gone].filter((name) => !this.#reached.has(name));
  }
}

function formatResult({ outcome, notification, isRemembered }: DeliveryResult): RelayNotifyResult {
  const { status, reason, fault } = reportOutcome(outcome);
  const result: RelayNotifyResult = { status };
  if (reason !== undefined) result.reason = reason;
  if (fault !== undefined) result.fault = fault;
  if (isRemembered) result.notification_id = notification.notificationId;
  return result;
}
