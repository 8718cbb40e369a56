import { isObject } from '../json-web-token.js';
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

/** Fields that AndroidConfig and AndroidConfigV2 share. */
const commonFields = [
  'collapse_key',
  'ttl',
  'data',
  'direct_boot_ok',
  'bandwidth_constrained_ok',
  'restricted_satellite_ok',
  'restricted_package_name',
  'fcm_options',
];
const androidFields = new Set([...commonFields, 'priority', 'notification']);
const intents = ['remote_notification', 'background_sync'] as const;
const androidV2Fields = new Set([...commonFields, ...intents]);
const remoteNotificationFields = new Set(['mutable_content', 'use_as_v1_data_message', 'notification']);
const maximumTtlSeconds = 2_419_200;

/** Checks AndroidConfig. https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages#androidconfig */
export function checkAndroid(android: unknown): MessageProblem | undefined {
  if (!isSet(android)) return undefined;
  const path = 'message.android';
  if (!isObject(android)) {
    return wrongType(path, 'type.googleapis.com/google.firebase.fcm.v1.AndroidConfig', android);
  }
  const { priority } = android;
  if (isSet(priority) && !(typeof priority === 'string' && /^(high|normal)$/i.test(priority))) {
    const type = 'type.googleapis.com/google.firebase.fcm.v1.AndroidConfig.AndroidMessagePriority';
    return wrongType(`${path}.priority`, type, priority);
  }
  return findUnknownField(android, androidFields, `${path}.`) ?? checkLifetime(android, path);
}

/**
 * Checks AndroidConfigV2, which has an intent instead of a priority. `hasAndroid` says whether the message also has an
 * AndroidConfig. https://firebase.google.com/docs/cloud-messaging/send/v2-api
 */
export function checkAndroidV2(android: unknown, hasAndroid: boolean): MessageProblem | undefined {
  if (!isSet(android)) return undefined;
  const path = 'message.android_v2';
  if (!isObject(android)) {
    return wrongType(path, 'type.googleapis.com/google.firebase.fcm.v1.AndroidConfigV2', android);
  }
  if (hasAndroid) return problem(path, 'Only one of android and android_v2 can be set.');
  const given = intents.filter((name) => isSet(read(android, name)));
  if (given.length !== 1) return problem(path, `Exactly one of ${intents.join(' and ')} must be set.`);
  return (
    findUnknownField(android, androidV2Fields, `${path}.`) ??
    checkRemoteNotification(read(android, 'remote_notification'), `${path}.remote_notification`) ??
    checkBackgroundSync(read(android, 'background_sync'), `${path}.background_sync`) ??
    checkLifetime(android, path)
  );
}

function checkRemoteNotification(remote: unknown, path: string): MessageProblem | undefined {
  if (!isSet(remote)) return undefined;
  if (!isObject(remote)) return wrongType(path, 'RemoteNotification', remote);
  for (const name of ['mutable_content', 'use_as_v1_data_message']) {
    const value = read(remote, name);
    if (isSet(value) && typeof value !== 'boolean') return wrongType(`${path}.${name}`, 'TYPE_BOOL', value);
  }
  if (!isObject(remote.notification)) return problem(`${path}.notification`, 'The notification is not set.');
  return findUnknownField(remote, remoteNotificationFields, `${path}.`);
}

function checkBackgroundSync(sync: unknown, path: string): MessageProblem | undefined {
  if (!isSet(sync)) return undefined;
  if (!isObject(sync)) return wrongType(path, 'BackgroundSync', sync);
  return findUnknownField(sync, new Set(), `${path}.`);
}

function checkLifetime(android: Json, path: string): MessageProblem | undefined {
  const collapseKey = read(android, 'collapse_key');
  if (isSet(collapseKey) && typeof collapseKey !== 'string') {
    return wrongType(`${path}.collapse_key`, 'TYPE_STRING', collapseKey);
  }
  return checkTtl(android.ttl, `${path}.ttl`) ?? checkData(android.data, `${path}.data`, maximumDataBytes);
}

function checkTtl(ttl: unknown, path: string): MessageProblem | undefined {
  if (!isSet(ttl)) return undefined;
  const [, seconds] = (typeof ttl === 'string' && /^(\d+(?:\.\d{1,9})?)s$/.exec(ttl)) || [];
  if (seconds === undefined) return wrongType(path, 'type.googleapis.com/google.protobuf.Duration', ttl);
  if (Number(seconds) <= maximumTtlSeconds) return undefined;
  return problem(path, `Invalid TTL: it must be from 0s to ${maximumTtlSeconds}s`);
}
