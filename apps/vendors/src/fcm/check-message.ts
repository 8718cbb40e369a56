import { isObject } from '../json-web-token.js';
import { checkAndroid, checkAndroidV2 } from './check-android.js';
import {
  checkData,
  findUnknownField,
  isSet,
  type Json,
  type MessageProblem,
  maximumDataBytes,
  problem,
  read,
  wrongType,
} from './message-fields.js';

/** A message that FCM would accept. */
export interface CheckedMessage {
  /** The registration token, topic, condition or fid. */
  readonly target: string;
  readonly isValidateOnly: boolean;
}

const targets = ['token', 'topic', 'condition', 'fid'] as const;
const messageFields = new Set<string>([
  ...targets,
  'name',
  'data',
  'notification',
  'android',
  'android_v2',
  'webpush',
  'apns',
  'fcm_options',
]);
const maximumTopicDataBytes = 2048;

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
    checkAndroid(message.android) ??
    checkAndroidV2(read(message, 'android_v2'), isSet(message.android));
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
