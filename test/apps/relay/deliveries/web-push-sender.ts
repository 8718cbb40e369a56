import { randomUUID } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import type { RelayDeviceId } from '@waxwing/protocol';
import type { Delivery } from '#relay/deliveries/delivery.js';
import { WebPushSender, type WebPushSenderOptions } from '#relay/deliveries/vendors/webpush/sender.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { newVapidKey } from '#relay/keyring/ring/vapid-key.js';
import { VapidKeys } from '#relay/keyring/vapid/vapid-keys.js';
import type { RealmId } from '#relay/servers/server-tables.js';
import { sodium } from '../keyring/ring-material.js';
import { WebPushPhone } from './web-push-phone.js';

const ring = { ...newKeyRing(sodium, 0), vapidKeys: [newVapidKey('web', 0)] };

export interface SenderUnderTestOptions
  extends Partial<
    Pick<WebPushSenderOptions, 'ca' | 'clock' | 'timeoutMilliseconds' | 'privateHosts' | 'proxy' | 'signer'>
  > {
  readonly hosts?: readonly string[] | '*';
  /** Resolves a host name. Default: no name has an address. */
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>;
}

/** Creates a sender that resolves host names with the given function. */
export function senderUnderTest(options: SenderUnderTestOptions = {}): WebPushSender {
  const { hosts = '*', resolve = noNames, ...more } = options;
  return new WebPushSender({
    app: {
      vendor: 'webpush',
      name: 'web',
      contact: 'mailto:operator@relay.example',
      hosts,
      serverIds: new Set(),
      realmUuids: new Set(),
    },
    signer: new VapidKeys(() => ring),
    privateHosts: new Set(),
    clock: () => Date.now(),
    timeoutMilliseconds: 10_000,
    resolve,
    ...more,
  });
}

/** Creates a delivery to a phone with this endpoint. The endpoint may be one that registrations do not allow. */
export function deliveryTo(endpoint: string, serverId = 'server'): Delivery {
  const { token } = new WebPushPhone('https://push.example/');
  const target = {
    tokenKind: 'webpush',
    token: token.replace('https://push.example/', endpoint),
  } as const;
  const now = Date.now();
  const realmId = 1 as RealmId;
  const relayDeviceId = 1 as RelayDeviceId;
  return {
    device: { id: relayDeviceId, realmId, target, registeredAt: now, expiredAt: undefined },
    notification: {
      serverId,
      realmId,
      realmUuid: randomUUID(),
      relayDeviceId,
      notificationId: randomUUID(),
      addressee: '7' as never,
      encryptedData: Buffer.alloc(700, 7).toString('base64'),
      urgency: { vendor: 'fcm', priority: 'high' },
      receivedAt: now,
      timeToLiveSeconds: 3600,
      collapseId: undefined,
    },
  };
}

export function send(sender: WebPushSender, endpoint: string, serverId?: string) {
  const options = { environment: 'production', notAfter: Date.now() + 60_000 } as const;
  return sender.send(deliveryTo(endpoint, serverId), options);
}

async function noNames(name: string): Promise<never> {
  throw Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' });
}
