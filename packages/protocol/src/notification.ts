import { isJsonObject, type JsonObject, type JsonValue, parseJsonOrUndefined } from './json.js';
import { decodeUtf8 } from './utf8.js';

/** An id that the chat server assigned; `bigint` if a double would round it. */
type Id = number | bigint;

interface EveryNotification {
  readonly realm_url: string;
  readonly realm_name?: string;
  readonly user_id: Id;
}

/** A new message. Fields: docs/protocol.md#notification. */
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

/** Request to remove the notifications of these messages from the phone. */
export interface RemoveNotification extends EveryNotification {
  readonly type: 'remove';
  readonly message_ids: readonly Id[];
}

/** A test notification, which a user requests to check that notifications arrive. */
export interface TestNotification extends EveryNotification {
  readonly type: 'test';
  /** Unix seconds. */
  readonly time: number;
}

/** Application-defined content, which only the app and its server interpret. */
export interface PayloadNotification extends EveryNotification {
  readonly type: 'payload';
  /** 1 to 64 letters, digits, `-` and `_`. Stays the same if the notification is sealed again. */
  readonly id: string;
  /** Unix seconds. */
  readonly time: number;
  readonly payload: JsonObject;
}

/** A decrypted notification (docs/protocol.md#notification). */
export type Notification = MessageNotification | RemoveNotification | TestNotification | PayloadNotification;
export type NotificationType = Notification['type'];

/** One type guard for each field. */
type Checks<Fields> = {
  readonly [Name in keyof Required<Fields>]: (value: unknown) => value is Fields[Name];
};

const isText = (value: unknown): value is string => typeof value === 'string';
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
const isId = (value: unknown): value is Id => typeof value === 'bigint' || isInteger(value);
const isIds = (value: unknown): value is readonly Id[] => Array.isArray(value) && value.every(isId);
const is =
  <Value>(only: Value) =>
  (value: unknown): value is Value =>
    value === only;
const orAbsent =
  <Value>(check: (value: unknown) => value is Value) =>
  (value: unknown): value is Value | undefined =>
    value === undefined || check(value);

const ofEvery: Checks<EveryNotification> = {
  realm_url: isText,
  realm_name: orAbsent(isText),
  user_id: isId,
};
const ofMessage: Checks<MessageNotification> = {
  type: is('message'),
  ...ofEvery,
  message_id: isId,
  time: isInteger,
  content: isText,
  sender_id: isId,
  sender_full_name: isText,
  sender_avatar_url: isText,
  channel_id: orAbsent(isId),
  channel_name: orAbsent(isText),
  topic: orAbsent(isText),
  recipient_user_ids: orAbsent(isIds),
  mentioned_user_group_id: orAbsent(isId),
  mentioned_user_group_name: orAbsent(isText),
};
const ofRemove: Checks<RemoveNotification> = { type: is('remove'), ...ofEvery, message_ids: isIds };
const ofTest: Checks<TestNotification> = { type: is('test'), ...ofEvery, time: isInteger };
const ofPayload: Checks<PayloadNotification> = {
  type: is('payload'),
  ...ofEvery,
  id: isPayloadId,
  time: isInteger,
  payload: isJsonObject,
};

/** Returns whether a value is valid as the `id` of a payload notification. */
export function isPayloadId(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{1,64}$/.test(value);
}

/**
 * Parses the decrypted bytes of a notification. Ignores padding (whitespace after the JSON) and unknown fields. Returns
 * `undefined` if the bytes are not a valid notification of a known type.
 */
export function parseNotification(bytes: Uint8Array): Notification | undefined {
  const text = decodeUtf8(bytes);
  const value = text === undefined ? undefined : parseJsonOrUndefined(text);
  if (!isJsonObject(value)) return undefined;
  return (
    pickFields(value, ofMessage) ??
    pickFields(value, ofRemove) ??
    pickFields(value, ofTest) ??
    pickFields(value, ofPayload)
  );
}

function pickFields<Fields>(value: JsonObject, checks: Checks<Fields>): Fields | undefined {
  const picked: Record<string, JsonValue> = {};
  for (const name of Object.keys(checks)) {
    const field = value[name];
    if (field !== undefined) picked[name] = field;
  }
  return hasFields(picked, checks) ? picked : undefined;
}

function hasFields<Fields>(value: JsonObject, checks: Checks<Fields>): value is JsonObject & Fields {
  for (const name in checks) if (!checks[name](value[name])) return false;
  return true;
}
