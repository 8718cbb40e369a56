import { z } from 'zod';
import type { JsonObject } from './json.js';
import { ciphertextBase64, pushAccountId, uuid } from './wire-fields.js';

/** Path of the relay's operation that delivers notifications. */
export const relayNotifyPath = '/api/v1/remotes/push/e2ee/notify';

const aps = z.record(z.string(), z.unknown(), 'must be an object');
const deviceId = z.union([z.number().int(), z.bigint()], 'must be an integer');

const apnsPushRequest = z.object({
  device_id: deviceId,
  http_headers: z.object({
    apns_priority: z.union([z.literal(10), z.literal(5), z.literal(1)], 'must be 10, 5 or 1'),
    apns_push_type: z.enum(['alert', 'background']),
  }),
  payload: z.object({ push_account_id: pushAccountId, encrypted_data: ciphertextBase64, aps }),
});

const fcmPushRequest = z.object({
  device_id: deviceId,
  fcm_priority: z.enum(['high', 'normal']),
  payload: z.object({ push_account_id: pushAccountId, encrypted_data: ciphertextBase64 }),
});

/** One device's share of a notify request; its kind is told by its shape, as peers do. */
export type ApnsPushRequest = z.infer<typeof apnsPushRequest>;
export type FcmPushRequest = z.infer<typeof fcmPushRequest>;
export type PushRequest = ApnsPushRequest | FcmPushRequest;

const pushRequest = z.unknown().transform((value, context): PushRequest => {
  const isApns = typeof value === 'object' && value !== null && 'http_headers' in value;
  const parsed = (isApns ? apnsPushRequest : fcmPushRequest).safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});

/** JSON body of `POST /remotes/push/e2ee/notify`, parsed without rounding integers. */
export const relayNotifyRequest = z.object({
  realm_uuid: uuid,
  push_requests: z.array(pushRequest),
});

/** The kind that a push request's shape asks for. */
export function isApnsPushRequest(request: PushRequest): request is ApnsPushRequest {
  return 'http_headers' in request;
}

/** What the relay answers: the four fields that stock servers require. */
export const relayNotifyAnswer = z.object({
  result: z.literal('success'),
  android_successfully_sent_count: z.number().int(),
  apple_successfully_sent_count: z.number().int(),
  delete_device_ids: z.array(z.number().int()),
  realm_push_status: z
    .object({ can_push: z.boolean(), expected_end_timestamp: z.number().int().nullable() })
    .nullable(),
});
export type RelayNotifyAnswer = z.infer<typeof relayNotifyAnswer>;

/** The same request as a server writes it; `bigint` ids become digits in {@link stringifyJson}. */
export function encodeRelayNotifyRequest(realmUuid: string, requests: readonly PushRequest[]): JsonObject {
  return { realm_uuid: realmUuid, push_requests: requests as unknown as readonly JsonObject[] };
}
