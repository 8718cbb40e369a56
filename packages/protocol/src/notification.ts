import { z } from 'zod';
import { parseJson } from './json.js';

const id = z.union([z.number().int(), z.bigint()]);
const everyNotification = { realm_url: z.string(), realm_name: z.string().optional(), user_id: id };

const messageNotification = z.object({
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
});
const removeNotification = z.object({
  ...everyNotification,
  type: z.literal('remove'),
  message_ids: z.array(id),
});
const testNotification = z.object({
  ...everyNotification,
  type: z.literal('test'),
  time: z.number().int(),
});

const notification = z.discriminatedUnion('type', [
  messageNotification,
  removeNotification,
  testNotification,
]);

/** What a notification says once it is opened (push registration protocol, "Encrypted notification plaintext"). */
export type Notification = z.infer<typeof notification>;
export type NotificationType = Notification['type'];

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the opened bytes of a notification. Padding (white space after the JSON) and unknown fields are ignored.
 * `undefined` for what is not a notification of a known type.
 */
export function parseNotification(bytes: Uint8Array): Notification | undefined {
  try {
    const parsed = notification.safeParse(parseJson(utf8.decode(bytes)));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Not UTF-8 or not JSON: not a notification either.
    return undefined;
  }
}
