import {
  decodeBase64,
  decodePublicKey,
  maximumIosAppIdCharacters,
  maximumTokenCodePoints,
  parseJson,
  pushAccountId,
  uuid,
} from '@waxwing/protocol';
import { z } from 'zod';

/**
 * Zod versions of the shapes that a phone checks with handwritten code. Both versions must accept the same values and
 * return the same results.
 */

const id = z.union([z.number().int(), z.bigint()]);
const everyNotification = { realm_url: z.string(), realm_name: z.string().optional(), user_id: id };

const notification = z.discriminatedUnion('type', [
  z.object({
    ...everyNotification,
    type: z.literal('message'),
    message_id: id,
    time: z.number().int(),
    content: z.string(),
    sender_id: id,
    sender_full_name: z.string(),
    sender_avatar_url: z.string(),
    channel_id: id.optional(),
    channel_name: z.string().optional(),
    topic: z.string().optional(),
    recipient_user_ids: z.array(id).optional(),
    mentioned_user_group_id: id.optional(),
    mentioned_user_group_name: z.string().optional(),
  }),
  z.object({ ...everyNotification, type: z.literal('remove'), message_ids: z.array(id) }),
  z.object({ ...everyNotification, type: z.literal('test'), time: z.number().int() }),
]);

const publicKey = z.string().refine((text) => decodePublicKey(text) !== undefined);
const signature = z.string().refine((text) => decodeBase64(text)?.length === 64);
const count = z.number().int().nonnegative();

export const keyListDocument = z.object({
  version: z.literal(1),
  sequence: count,
  issued_at: count,
  expires_at: count,
  keys: z
    .array(
      z.object({
        public_key: publicKey,
        state: z.enum(['primary', 'accepted']),
        created_at: count,
        accepted_until: count.nullable(),
      }),
    )
    .refine((keys) => keys.filter(({ state }) => state === 'primary').length === 1),
  revoked: z.array(publicKey),
  signing_keys: z.array(z.object({ public_key: publicKey, endorsement: signature.nullable() })).nonempty(),
});

export const keyListAnswer = z.object({
  result: z.literal('success'),
  key_list: z.string(),
  signature,
  signing_public_key: publicKey,
});

const pushDeviceStatus = z.enum(['pending', 'active', 'failed']);

export const pushDevices = z
  .record(z.string(), z.object({ status: pushDeviceStatus, error_code: z.string().nullable() }))
  .transform((devices) => new Map(Object.entries(devices)));

export const pushDeviceEvent = z.object({
  type: z.literal('push_device'),
  push_account_id: pushAccountId,
  status: pushDeviceStatus,
  error_code: z.string().optional(),
});

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `parseNotification`, implemented with zod. */
export function parseNotificationByZod(bytes: Uint8Array): unknown {
  try {
    return notification.safeParse(parseJson(utf8.decode(bytes))).data;
  } catch {
    // Not valid UTF-8, or not JSON.
    return undefined;
  }
}

const whitespace = '[\\t\\n\\v\\f\\r ]*';
const hexToken = new RegExp(`^${whitespace}(?:[0-9A-Fa-f]{2}${whitespace})+$`);
const integerLikeText = /^[\t\n\v\f\r ]*[+-]?\d+(?:\.0*)?[\t\n\v\f\r ]*$/;

const sealedShape = z.object({
  token: z
    .string()
    .refine((token) => token.length > 0 && [...token].length <= maximumTokenCodePoints)
    .refine((token) => !/[\0\p{Surrogate}]/u.test(token)),
  token_kind: z.enum(['fcm', 'apns']),
  timestamp: z.union([
    z.number().refine(Number.isInteger),
    z.string().regex(integerLikeText).transform(Number),
    z.boolean().transform(Number),
  ]),
  ios_app_id: z
    .string()
    .max(maximumIosAppIdCharacters)
    .regex(/^[.a-zA-Z0-9-]+$/)
    .nullish(),
  apns_environment: z.enum(['production', 'sandbox']).nullish(),
  audience: uuid.nullish(),
  push_account_id: pushAccountId.nullish(),
  sequence: z.number().int().nonnegative().nullish(),
});

/** `parsePushRegistration`, implemented with zod. */
export function parsePushRegistrationByZod(bytes: Uint8Array): unknown {
  const shape = sealedShape.safeParse(parseObject(bytes));
  if (!shape.success) return undefined;
  const { token, token_kind: tokenKind, timestamp, ios_app_id: iosAppId } = shape.data;
  const { audience, push_account_id, sequence } = shape.data;
  const bound = {
    timestamp,
    ...(audience == null ? {} : { audience }),
    ...(push_account_id == null ? {} : { pushAccountId: push_account_id }),
    ...(sequence == null ? {} : { sequence }),
  };
  if (tokenKind === 'fcm') return iosAppId == null ? { tokenKind, token, ...bound } : undefined;
  if (iosAppId == null || !hexToken.test(token)) return undefined;
  return {
    tokenKind,
    token,
    ...bound,
    iosAppId,
    apnsEnvironment: shape.data.apns_environment ?? 'production',
  };
}

function parseObject(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // Not valid UTF-8, or not JSON.
    return undefined;
  }
}
