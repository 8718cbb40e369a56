import { isJsonObject, type JsonObject, type JsonValue, parseJsonOrUndefined } from './json.js';
import { decodeUtf8 } from './utf8.js';

/** An id of the chat: a `bigint` where a double would round it. */
type Id = number | bigint;

interface EveryNotification {
  readonly realm_url: string;
  readonly realm_name?: string;
  readonly user_id: Id;
}

/** A message has arrived. */
export interface MessageNotification extends EveryNotification {
  readonly type: 'message';
  readonly message_id: Id;
  /** Unix seconds. */
  readonly time: number;
  readonly content: string;
  readonly sender_id: Id;
  readonly sender_full_name: string;
  readonly sender_avatar_url: string;
  readonly channel_id?: Id;
  readonly channel_name?: string;
  readonly topic?: string;
  readonly recipient_user_ids?: readonly Id[];
  readonly mentioned_user_group_id?: Id;
  readonly mentioned_user_group_name?: string;
}

/** Messages whose notifications are to disappear from the phone. */
export interface RemoveNotification extends EveryNotification {
  readonly type: 'remove';
  readonly message_ids: readonly Id[];
}

/** Somebody tries whether notifications arrive. */
export interface TestNotification extends EveryNotification {
  readonly type: 'test';
  /** Unix seconds. */
  readonly time: number;
}

/** What a notification says once it is opened (push registration protocol, "Encrypted notification plaintext"). */
export type Notification = MessageNotification | RemoveNotification | TestNotification;
export type NotificationType = Notification['type'];

type Check = (value: JsonValue) => boolean;
type Fields = Readonly<Record<string, Check>>;

const isText: Check = (value) => typeof value === 'string';
const isId: Check = (value) => typeof value === 'bigint' || Number.isSafeInteger(value);
const isIds: Check = (value) => Array.isArray(value) && value.every(isId);

const ofEvery: Fields = { type: isText, realm_url: isText, user_id: isId };
const required: Readonly<Record<NotificationType, Fields>> = {
  message: {
    ...ofEvery,
    message_id: isId,
    time: Number.isSafeInteger,
    content: isText,
    sender_id: isId,
    sender_full_name: isText,
    sender_avatar_url: isText,
  },
  remove: { ...ofEvery, message_ids: isIds },
  test: { ...ofEvery, time: Number.isSafeInteger },
};
const optional: Readonly<Record<NotificationType, Fields>> = {
  message: {
    realm_name: isText,
    channel_id: isId,
    channel_name: isText,
    topic: isText,
    recipient_user_ids: isIds,
    mentioned_user_group_id: isId,
    mentioned_user_group_name: isText,
  },
  remove: { realm_name: isText },
  test: { realm_name: isText },
};

/**
 * Reads the opened bytes of a notification. Padding (white space after the JSON) and unknown fields are ignored.
 * `undefined` for what is not a notification of a known type.
 */
export function parseNotification(bytes: Uint8Array): Notification | undefined {
  const text = decodeUtf8(bytes);
  const value = text === undefined ? undefined : parseJsonOrUndefined(text);
  if (!isJsonObject(value)) return undefined;
  const { type } = value;
  return type === 'message' || type === 'remove' || type === 'test' ? pickFields(value, type) : undefined;
}

function pickFields(value: JsonObject, type: NotificationType): Notification | undefined {
  const picked: Record<string, JsonValue> = {};
  for (const [name, check] of Object.entries(required[type])) {
    const field = value[name];
    if (field === undefined || !check(field)) return undefined;
    picked[name] = field;
  }
  for (const [name, check] of Object.entries(optional[type])) {
    const field = value[name];
    if (field === undefined) continue;
    if (!check(field)) return undefined;
    picked[name] = field;
  }
  // Every field has passed the check that stands for its type.
  return picked as unknown as Notification;
}
