import { z } from 'zod';
import { isJsonObject, type JsonObject } from './json.js';
import { maximumCollapseIdBytes, maximumTimeToLiveSeconds } from './limits.js';
import { parseWithMessages } from './validation-message.js';
import { ciphertextBase64, pushAccountId, uuid } from './wire-fields.js';

/** Path of the relay's operation that delivers notifications (docs/protocol.md#remotespushe2eenotify). */
export const relayNotifyPath = '/api/v1/remotes/push/e2ee/notify';

// Custom schemas allocate the least memory, which matters because every notification passes through them.
const aps = z.custom<JsonObject>(isJsonObject, 'must be an object').meta({ openApi: { type: 'object' } });
const deviceId = z
  .custom<number | bigint>(
    (value) => typeof value === 'bigint' || Number.isSafeInteger(value),
    'must be an integer',
  )
  .meta({ openApi: { type: 'integer' } });

const timeToLive = `must be whole seconds from 0 to ${maximumTimeToLiveSeconds}`;
const collapseId = `must be 1 to ${maximumCollapseIdBytes} characters of printable ASCII without spaces`;

/** Delivery options that extend the stock format. Stock relays ignore them. */
const deliveryOptions = {
  /** Makes retries within a day idempotent: a repeated request gets the first request's result. */
  notification_id: uuid.nullish(),
  /** How long the notification is worth delivering, in seconds. 0 means now or never. */
  ttl_seconds: z
    .number(timeToLive)
    .int(timeToLive)
    .min(0, timeToLive)
    .max(maximumTimeToLiveSeconds, timeToLive)
    .nullish(),
  /**
   * A later notification with the same value replaces this one, whether it is still queued or already shown. 1 to 64
   * printable ASCII characters without spaces.
   */
  collapse_id: z
    .string(collapseId)
    .regex(/^[\x21-\x7e]+$/, collapseId)
    .max(maximumCollapseIdBytes, collapseId)
    .nullish(),
};

const apnsPushRequest = z.object({
  ...deliveryOptions,
  device_id: deviceId,
  http_headers: z.object({
    apns_priority: z.literal([10, 5, 1], 'must be 10, 5 or 1'),
    apns_push_type: z.enum(['alert', 'background']),
  }),
  payload: z.object({ push_account_id: pushAccountId, encrypted_data: ciphertextBase64, aps }),
});

const fcmPushRequest = z.object({
  ...deliveryOptions,
  device_id: deviceId,
  fcm_priority: z.enum(['high', 'normal']),
  payload: z.object({ push_account_id: pushAccountId, encrypted_data: ciphertextBase64 }),
});

/** Id of the phone's key in the newer generation: an unsigned 32-bit integer. */
const pushKeyId = z
  .custom<number>(
    (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff_ffff,
    'must be an integer of 32 bits',
  )
  .meta({ openApi: { type: 'integer', minimum: 0, maximum: 0xffff_ffff } });
const tokenId = z.string('must be text');

const apnsTokenPushRequest = apnsPushRequest.omit({ device_id: true }).extend({
  token_id: tokenId,
  payload: z.object({ push_key_id: pushKeyId, encrypted_data: ciphertextBase64, aps }),
});

const fcmTokenPushRequest = fcmPushRequest.omit({ device_id: true }).extend({
  token_id: tokenId,
  payload: z.object({ push_key_id: pushKeyId, encrypted_data: ciphertextBase64 }),
});

/** One entry of a notify request in the newer generation, which identifies a token and a key. */
export type TokenPushRequest = z.infer<typeof apnsTokenPushRequest> | z.infer<typeof fcmTokenPushRequest>;

/**
 * One device's entry in a notify request. As in stock peers, the fields of the entry determine the vendor: only an
 * entry for APNs has `http_headers`.
 */
export type ApnsPushRequest = z.infer<typeof apnsPushRequest>;
export type FcmPushRequest = z.infer<typeof fcmPushRequest>;
export type PushRequest = ApnsPushRequest | FcmPushRequest;
/** An entry of either generation. */
export type AnyPushRequest = PushRequest | TokenPushRequest;
/** A push request as a server sends it: plain JSON without absent fields. */
export type WrittenPushRequest = AnyPushRequest & JsonObject;

/** Selects the schema of an entry by its fields: `token_id` means the newer generation, and `http_headers` means APNs. */
function schemaOf(value: unknown) {
  const fields = typeof value === 'object' && value !== null ? value : {};
  if ('token_id' in fields) return 'http_headers' in fields ? apnsTokenPushRequest : fcmTokenPushRequest;
  return 'http_headers' in fields ? apnsPushRequest : fcmPushRequest;
}

const pushRequests = z.array(z.unknown()).transform((values, context): AnyPushRequest[] => {
  const requests: AnyPushRequest[] = [];
  for (const [index, value] of values.entries()) {
    const parsed = parseWithMessages(schemaOf(value), value);
    if (!parsed.success) {
      // Reports only the first issue. A body can contain half a million issues, and describing all of them would take
      // half a minute.
      const { path = [], message = 'is wrong' } = parsed.error.issues[0] ?? {};
      context.addIssue({ code: 'custom', path: [index, ...path], message });
      return z.NEVER;
    }
    requests.push(parsed.data);
  }
  return requests;
});

/** JSON body of `POST /remotes/push/e2ee/notify`, parsed without rounding integers. */
export const relayNotifyRequest = z.object({
  realm_uuid: uuid,
  push_requests: pushRequests.meta({
    openApiJson: z.array(
      z.union([apnsPushRequest, fcmPushRequest, apnsTokenPushRequest, fcmTokenPushRequest]),
    ),
  }),
});

/** Returns whether a push request is for APNs, that is, whether it has `http_headers`. */
export function isApnsPushRequest<Request extends AnyPushRequest>(
  request: Request,
): request is Extract<Request, { http_headers: unknown }> {
  return 'http_headers' in request;
}

/**
 * Result of one push request.
 *
 * - `sent`: the vendor accepted the notification
 * - `queued`: the relay has stored the notification and will send it later; poll for its receipt. `fault` is set if the
 *   operator must first fix a credential
 * - `gone`: the token is dead; delete the device
 * - `rejected`: the notification will not be sent; `reason` says why
 */
export const deliveryStatuses = ['sent', 'queued', 'gone', 'rejected'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Parties that may have to fix the cause of a rejected push request. */
export const deliveryFaults = ['server', 'registration', 'relay-configuration', 'relay', 'vendor'] as const;
export type DeliveryFault = (typeof deliveryFaults)[number];

/** Result of one push request. */
export const relayNotifyResult = z.object({
  status: z.enum(deliveryStatuses),
  /**
   * The vendor's reason, such as `UNREGISTERED`, or the relay's own reason. Only with `queued`, `gone` and `rejected`.
   */
  reason: z.string().nullish(),
  fault: z.enum(deliveryFaults).nullish(),
  /** Bundle id of an app that the relay does not serve. Never in receipts. */
  app: z.string().nullish(),
  /** The request's id, or the id that the relay assigned to a queued request. */
  notification_id: uuid.nullish(),
});
export type RelayNotifyResult = z.infer<typeof relayNotifyResult>;

/**
 * The relay's response to a notify request: the four fields that stock servers require, and one result per push
 * request, in the same order.
 */
export const relayNotifyAnswer = z.object({
  android_successfully_sent_count: z.number().int(),
  apple_successfully_sent_count: z.number().int(),
  delete_device_ids: z.array(deviceId),
  realm_push_status: z
    .object({ can_push: z.boolean(), expected_end_timestamp: z.number().int().nullable() })
    .nullable(),
  /** Absent in responses from stock relays. */
  results: z.array(relayNotifyResult).optional(),
});
export type RelayNotifyAnswer = z.infer<typeof relayNotifyAnswer>;

/**
 * The relay's response in both generations. The fields of a generation are present only if the request has entries of
 * that generation.
 */
export const relayNotifyAnyAnswer = relayNotifyAnswer.extend({
  delete_device_ids: z.array(deviceId).optional(),
  /** Ids of dead and unknown tokens, as spelled in the request and without duplicates. */
  delete_token_ids: z.array(z.string()).optional(),
});
export type RelayNotifyAnyAnswer = z.infer<typeof relayNotifyAnyAnswer>;

/** Builds a notify request for {@link stringifyJson}, which writes `bigint` ids as digits. */
export function encodeRelayNotifyRequest(
  realmUuid: string,
  requests: readonly WrittenPushRequest[],
): JsonObject {
  return { realm_uuid: realmUuid, push_requests: requests };
}

/** Path of the relay's operation that returns delivery receipts (docs/protocol.md#remotespushe2eereceipts). */
export const relayReceiptsPath = '/api/v1/remotes/push/e2ee/receipts';

/** Maximum number of ids in one request for receipts. */
export const maximumReceiptIds = 200;

/** Query parameters of `GET /remotes/push/e2ee/receipts`: 1 to 200 notification ids (UUIDs), separated by commas. */
export const relayReceiptsParameters = z.object({
  ids: z
    .string()
    .transform((text, context) => {
      const texts = text.split(',', maximumReceiptIds + 1);
      const ids = texts.map((id) => uuid.safeParse(id.trim()));
      const known = ids.flatMap(({ data }) => (data === undefined ? [] : [data]));
      if (known.length === ids.length && known.length <= maximumReceiptIds) return known;
      const message = `must be 1 to ${maximumReceiptIds} UUIDs, separated by commas`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({
      openApi: { type: 'string', description: `1 to ${maximumReceiptIds} UUIDs, separated by commas` },
    }),
});

/** The relay's response: one receipt per known id, device and account. Unknown ids have no receipt. */
export const relayReceiptsAnswer = z.object({
  receipts: z.array(
    relayNotifyResult.omit({ app: true }).extend({
      notification_id: uuid,
      device_id: z.number().int(),
      /** Absent for a device that was registered by token id. */
      push_account_id: pushAccountId.optional(),
      attempts: z.number().int(),
      /** Time of the last change, in Unix seconds. */
      updated_at: z.number().int(),
    }),
  ),
});
export type RelayReceipt = z.infer<typeof relayReceiptsAnswer>['receipts'][number];
