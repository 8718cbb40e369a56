import {
  type JsonObject,
  maximumNotificationBytes,
  notificationSizeBucketsBytes,
  stringifyJson,
  type UserId,
} from '@waxwing/protocol';
import type { PushRealm } from '../server-push-options.js';
import type { MessageContent, NotificationContent } from './notification-content.js';
import { jsonStringBytes, shortenToCodePoints, shortenToJsonBytes } from './shorten-text.js';

/** Limits from docs/protocol.md#notification: code points in a message's text, and ids in a `remove` notification. */
const maximumContentCodePoints = 200;
const maximumRemovedMessages = 200;

type Fields = Record<string, string | number | readonly number[] | JsonObject>;

const space = 0x20;
// Order in which text fields are shortened: first the content, then the other fields, least informative first.
const textFields = [
  'content',
  'topic',
  'channel_name',
  'mentioned_user_group_name',
  'sender_full_name',
  'realm_name',
] as const;

/**
 * Encodes a notification for sealing, as JSON padded with spaces to the next size bucket. Texts are shortened between
 * code points until the JSON fits, so that no content exceeds the vendors' limit of 4096 bytes.
 *
 * @throws RangeError if the JSON exceeds the largest bucket even when shortened. Payloads are never shortened.
 */
export function encodeNotification(realm: PushRealm, userId: UserId, content: NotificationContent): Buffer {
  const fields = fieldsOf(content);
  fields.realm_url = realm.url;
  fields.realm_name = realm.name;
  fields.user_id = userId;
  let json = stringifyJson(fields);
  let bytes = Buffer.byteLength(json, 'utf8');
  if (bytes > maximumNotificationBytes) {
    json = stringifyJson(shortened(fields, bytes - maximumNotificationBytes, content));
    bytes = Buffer.byteLength(json, 'utf8');
  }
  const bucket = notificationSizeBucketsBytes.find((size) => size >= bytes);
  if (bucket === undefined) {
    throw new RangeError(
      `The notification is ${bytes} bytes, but the maximum is ${maximumNotificationBytes}: send less, or send an id that the app uses to fetch the rest.`,
    );
  }
  const padded = Buffer.allocUnsafe(bucket);
  padded.fill(space, padded.write(json, 'utf8'));
  return padded;
}

function fieldsOf(content: NotificationContent): Fields {
  if (content.type === 'test') return { type: 'test', time: content.time };
  if (content.type === 'message') return messageFields(content);
  if (content.type === 'payload') return { ...content };
  const newest = [...content.messageIds].sort((a, b) => a - b).slice(-maximumRemovedMessages);
  return { type: 'remove', message_ids: newest };
}

function messageFields(content: MessageContent): Fields {
  const { recipient, mentionedUserGroup } = content;
  const fields: Fields = {
    type: 'message',
    message_id: content.messageId,
    time: content.time,
    content: shortenToCodePoints(content.content, maximumContentCodePoints),
    sender_id: content.senderId,
    sender_full_name: content.senderFullName,
    sender_avatar_url: content.senderAvatarUrl,
  };
  if (recipient.kind === 'channel') {
    fields.recipient_type = 'channel';
    fields.channel_id = recipient.channelId;
    fields.channel_name = recipient.channelName;
    fields.topic = recipient.topic;
  } else {
    fields.recipient_type = 'direct';
    fields.recipient_user_ids = [...recipient.userIds].sort((a, b) => a - b);
  }
  if (mentionedUserGroup !== undefined) {
    fields.mentioned_user_group_id = mentionedUserGroup.id;
    fields.mentioned_user_group_name = mentionedUserGroup.name;
  }
  return fields;
}

/** Shortens the JSON by at least `excess` bytes: first texts, then the picture, then ids. */
function shortened(fields: Fields, excess: number, content: NotificationContent): Fields {
  let remaining = excess;
  const shorter: Fields = { ...fields };
  const replace = (name: string, text: string, value: string): void => {
    shorter[name] = value;
    remaining -= jsonStringBytes(text) - jsonStringBytes(value);
  };
  for (const name of textFields) {
    const text = fields[name];
    if (remaining <= 0 || typeof text !== 'string') continue;
    replace(name, text, shortenToJsonBytes(text, Math.max(0, jsonStringBytes(text) - remaining)));
  }
  const { sender_avatar_url: avatar } = fields;
  // The URL is removed as a whole, because a truncated URL shows no picture.
  if (remaining > 0 && typeof avatar === 'string') replace('sender_avatar_url', avatar, '');
  if (remaining > 0 && content.type === 'remove')
    shorter.message_ids = keepNewest(fields.message_ids, remaining);
  if (remaining > 0 && content.type === 'message' && content.recipient.kind === 'direct') {
    shorter.recipient_user_ids = keepParties(fields.recipient_user_ids, remaining, [
      content.senderId,
      Number(fields.user_id),
    ]);
  }
  return shorter;
}

/** Drops the lowest (oldest) ids until `excess` bytes are saved. Keeps at least one. */
function keepNewest(value: Fields[string] | undefined, excess: number): number[] {
  const ids = [...(value as readonly number[])];
  let saved = 0;
  while (ids.length > 1 && saved < excess) saved += `${ids.shift()},`.length;
  return ids;
}

/** Drops the highest ids, but not those of the sender and recipient, until `excess` bytes are saved. */
function keepParties(
  value: Fields[string] | undefined,
  excess: number,
  parties: readonly number[],
): number[] {
  const ids = [...(value as readonly number[])];
  let saved = 0;
  for (let index = ids.length - 1; index >= 0 && saved < excess; index -= 1) {
    if (!parties.includes(ids[index] ?? 0)) saved += `${ids.splice(index, 1)[0]},`.length;
  }
  return ids;
}
