import { createHmac } from 'node:crypto';
import type { JsonObject } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import type { PushRealm } from '../server-push-options.js';

/**
 * Describes an organization in the format that relays expect. Stock relays require all these fields.
 * @param secretKey the key that encrypts server keys in the database
 */
export function describeRealm({ uuid, url, name }: PushRealm, secretKey: Secret<Uint8Array>): JsonObject {
  return {
    id: 1,
    uuid,
    // Stock relays store this secret on the first report, so it must never change. It is derived from values that key
    // rotations do not change.
    uuid_owner_secret: createHmac('sha256', secretKey.reveal()).update(`realm ${uuid}`).digest('hex'),
    host: new URL(url).host,
    url,
    name,
    org_type: 0,
    date_created: 0,
    deactivated: false,
    is_system_bot_realm: false,
    authentication_methods: {},
  };
}
