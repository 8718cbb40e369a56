import { isObject } from '../json-web-token.js';

/** A message that FCM would accept. */
export interface CheckedMessage {
  /** The registration token, topic, condition or fid. */
  readonly target: string;
  readonly isValidateOnly: boolean;
}

/** A problem of a message; `field` is the path of the invalid field. */
export interface MessageProblem {
  readonly message: string;
  readonly field: string;
  /** Whether FCM detects it, and not the JSON parser in front of FCM. If so, the answer carries an FcmError. */
  readonly isFcmError: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const targets = ['token', 'topic', 'condition', 'fid'] as const;
const messageFields = new Set<string>([
  ...targets,
  'name',
  'data',
  'notification',
  'android',
  'webpush',
  'apns',
  'fcm_options',
]);
const androidFields = new Set([
  'collapse_key',
  'priority',
  'ttl',
  'restricted_package_name',
  'data',
  'notification',
  'fcm_options',
  'direct_boot_ok',
  'bandwidth_constrained_ok',
  'restricted_satellite_ok',
]);
const maximumDataBytes = 4096;
const maximumTopicDataBytes = 2048;
const maximumTtlSeconds = 2_419_200;

/**
 * Validates the body of `messages:send` as Google does. Field names may be snake_case or lowerCamelCase.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
 */
export function checkMessage(body: Json): CheckedMessage | MessageProblem {
  const unknown = findUnknownField(body, new Set(['message', 'validate_only']), '');
  if (unknown) return unknown;
  const validateOnly = read(body, 'validate_only');
  if (validateOnly !== undefined && typeof validateOnly !== 'boolean') {
    return wrongType('validate_only', 'TYPE_BOOL', validateOnly);
  }
  const message = body.message;
  if (message === undefined || message === null) return problem('message', 'The message is not set.');
  if (!isObject(message))
    return wrongType('message', 'type.googleapis.com/google.firebase.fcm.v1.Message', message);
  const target = findTarget(message);
  if (typeof target !== 'string') return target;
  const isTokenTarget = isSet(message.token) || isSet(message.fid);
  const found =
    findUnknownField(message, messageFields, 'message.') ??
    checkData(message.data, 'message.data', isTokenTarget ? maximumDataBytes : maximumTopicDataBytes) ??
    checkAndroid(message.android);
  return found ?? { target, isValidateOnly: validateOnly === true };
}

function findTarget(message: Json): string | MessageProblem {
  const given = targets.filter((name) => isSet(message[name]));
  const [name, second] = given;
  if (name === undefined) return problem('message', 'Recipient of the message is not set.');
  if (second !== undefined) {
    const text = `Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '${second}'`;
    return { message: text, field: 'message', isFcmError: false };
  }
  const target = message[name];
  if (typeof target !== 'string') return wrongType(`message.${name}`, 'TYPE_STRING', target);
  if (name === 'topic' && !/^(\/topics\/)?[a-zA-Z0-9-_.~%]+$/.test(target)) {
    return problem('message.topic', 'Malformed topic name');
  }
  if (target !== '') return target;
  if (name === 'token') {
    return problem('message.token', 'The registration token is not a valid FCM registration token');
  }
  return problem(`message.${name}`, 'Recipient of the message is not set.');
}

function checkData(data: unknown, path: string, maximumBytes: number): MessageProblem | undefined {
  if (!isSet(data)) return undefined;
  if (!isObject(data)) return wrongType(path, 'Map', data);
  let bytes = 0;
  for (const [index, [key, value]] of Object.entries(data).entries()) {
    if (typeof value !== 'string') return wrongType(`${path}[${index}].value`, 'TYPE_STRING', value);
    if (isReservedKey(key)) return problem(path, `Invalid data payload key: ${key}`);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  return bytes > maximumBytes ? problem(path, 'Android message is too big') : undefined;
}

function isReservedKey(key: string): boolean {
  return (
    key === 'from' ||
    key === 'message_type' ||
    key.startsWith('google.') ||
    key.startsWith('gcm.notification.')
  );
}

function checkAndroid(android: unknown): MessageProblem | undefined {
  if (!isSet(android)) return undefined;
  const path = 'message.android';
  if (!isObject(android)) {
    return wrongType(path, 'type.googleapis.com/google.firebase.fcm.v1.AndroidConfig', android);
  }
  const { priority, ttl } = android;
  const collapseKey = read(android, 'collapse_key');
  if (isSet(priority) && !(typeof priority === 'string' && /^(high|normal)$/i.test(priority))) {
    const type = 'type.googleapis.com/google.firebase.fcm.v1.AndroidConfig.AndroidMessagePriority';
    return wrongType(`${path}.priority`, type, priority);
  }
  if (isSet(collapseKey) && typeof collapseKey !== 'string') {
    return wrongType(`${path}.collapse_key`, 'TYPE_STRING', collapseKey);
  }
  return (
    findUnknownField(android, androidFields, `${path}.`) ??
    checkTtl(ttl, `${path}.ttl`) ??
    checkData(android.data, `${path}.data`, maximumDataBytes)
  );
}

function checkTtl(ttl: unknown, path: string): MessageProblem | undefined {
  if (!isSet(ttl)) return undefined;
  const [, seconds] = (typeof ttl === 'string' && /^(\d+(?:\.\d{1,9})?)s$/.exec(ttl)) || [];
  if (seconds === undefined) return wrongType(path, 'type.googleapis.com/google.protobuf.Duration', ttl);
  if (Number(seconds) <= maximumTtlSeconds) return undefined;
  return problem(path, `Invalid TTL: it must be from 0s to ${maximumTtlSeconds}s`);
}

/** Reads a field by its snake_case or its lowerCamelCase name, as Google's JSON parser does. */
function read(object: Json, name: string): unknown {
  return object[name] ?? object[name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())];
}

function findUnknownField(
  object: Json,
  known: ReadonlySet<string>,
  prefix: string,
): MessageProblem | undefined {
  for (const name of Object.keys(object)) {
    if (known.has(name)) continue;
    if (known.has(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))) continue;
    const place = prefix === '' ? '' : ` at '${prefix.slice(0, -1)}'`;
    const message = `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`;
    return { message, field: prefix.slice(0, -1), isFcmError: false };
  }
  return undefined;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function wrongType(field: string, type: string, value: unknown): MessageProblem {
  const shown = JSON.stringify(value).slice(0, 100);
  return { message: `Invalid value at '${field}' (${type}), ${shown}`, field, isFcmError: false };
}

function problem(field: string, message: string): MessageProblem {
  return { message, field, isFcmError: true };
}
