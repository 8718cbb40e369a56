import { randomUUID } from 'node:crypto';
import type { RelayDeviceId } from '@waxwing/protocol';
import {
  formatPushAccountId,
  isApnsPushRequest,
  maximumTimeToLiveSeconds,
  type PushRequest,
} from '@waxwing/protocol';
import type { RealmId } from '../../servers/server-tables.js';
import type { Notification, VendorUrgency } from '../delivery.js';
import { rebuildAps } from './aps.js';

/** Who asks, and for which realm. */
export interface NotifyRequester {
  readonly serverId: string;
  readonly realmId: RealmId;
  readonly realmUuid: string;
}

/** Both vendors keep a notification for a phone that is off; a server that says nothing wants it kept. */
const defaultTimeToLiveSeconds = maximumTimeToLiveSeconds;

/** A push request in the relay's words. One without `notification_id` gets an id of ours. */
export function readPushRequest(request: PushRequest, requester: NotifyRequester, now: number): Notification {
  const {
    payload,
    notification_id: notificationId,
    ttl_seconds: timeToLive,
    collapse_id: collapseId,
  } = request;
  // Field by field: spreading an object costs a hundred times as much, once for each notification.
  return {
    serverId: requester.serverId,
    realmId: requester.realmId,
    realmUuid: requester.realmUuid,
    relayDeviceId: Number(request.device_id) as RelayDeviceId,
    notificationId: notificationId ?? randomUUID(),
    pushAccountId: formatPushAccountId(payload.push_account_id),
    encryptedData: payload.encrypted_data,
    urgency: readUrgency(request),
    receivedAt: now,
    timeToLiveSeconds: timeToLive ?? defaultTimeToLiveSeconds,
    collapseId: collapseId ?? undefined,
  };
}

function readUrgency(request: PushRequest): VendorUrgency {
  if (!isApnsPushRequest(request)) return { vendor: 'fcm', priority: request.fcm_priority };
  const { apns_priority: priority, apns_push_type: pushType } = request.http_headers;
  return { vendor: 'apns', priority, pushType, aps: rebuildAps(request.payload.aps) };
}
