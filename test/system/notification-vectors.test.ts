import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation, type Delivery } from '../support/constellation.js';
import { openSealed, openSecretBox, seal } from '../support/noble-oracle.js';
import { relayProtocolVectors } from '../support/protocol-vectors.js';

const vectors = relayProtocolVectors();
const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
const pushAccountId = '-9223372036854775808';
let world: Constellation;

beforeAll(async () => {
  world = await Constellation.create();
  await world.startRelay();
}, 60_000);
afterAll(() => world.close());

async function askRelay(path: string, type: string, body: string): Promise<Record<string, unknown>> {
  const key = readFileSync(join(world.dir, 'server.key'), 'utf8').trim();
  const response = await fetch(`${world.relayUrl}/api/v1/remotes/push/e2ee/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${world.serverEnv.SERVER_RELAY_SERVER_ID}:${key}`)}`,
      'content-type': type,
    },
    body,
  });
  return (await response.json()) as Record<string, unknown>;
}

async function register(registration: object): Promise<unknown> {
  const plaintext = JSON.stringify({ ...registration, timestamp: Math.floor(Date.now() / 1000) });
  const sealed = seal(Buffer.from(plaintext), bytes(world.bouncerPublicKey), randomBytes(32));
  const form = new URLSearchParams({
    realm_uuid: world.realmUuid,
    push_account_id: pushAccountId,
    encrypted_push_registration: Buffer.from(sealed).toString('base64'),
    bouncer_public_key: world.bouncerPublicKey,
  });
  return (await askRelay('register', 'application/x-www-form-urlencoded', form.toString())).device_id;
}

const boxes = [
  ...vectors.notifications.map(({ type, encrypted_data, plaintext_utf8 }) => ({
    name: `${type}, sealed with a push key`,
    encryptedData: encrypted_data,
    plaintext: plaintext_utf8,
    open: (box: Uint8Array) =>
      openSecretBox(box.slice(24), box.slice(0, 24), bytes(vectors.push_key).slice(1)),
  })),
  {
    name: 'test, sealed to a public key',
    encryptedData: vectors.gen11.encrypted_data,
    plaintext: vectors.gen11.plaintext,
    open: (box: Uint8Array) =>
      openSealed(box, bytes(vectors.gen11.push_public_key), bytes(vectors.gen11.client_private_key)),
  },
];

describe('notifications in the test vectors', () => {
  it.each(boxes)(
    'pass unchanged through the relay and both vendors to the phone: $name',
    async ({ encryptedData, plaintext, open }) => {
      const [fcmToken, apnsToken] = [
        `fcm-${randomBytes(8).toString('hex')}`,
        randomBytes(32).toString('hex'),
      ];
      const fcm = await register({ token_kind: 'fcm', token: fcmToken });
      const apns = await register({ token_kind: 'apns', token: apnsToken, ios_app_id: 'org.zulip.Zulip' });
      const box = `"push_account_id":${pushAccountId},"encrypted_data":"${encryptedData}"`;
      const requests = [
        `{"device_id":${fcm},"fcm_priority":"high","payload":{${box}}}`,
        `{"device_id":${apns},"http_headers":{"apns_priority":10,"apns_push_type":"alert"},"payload":{${box},"aps":{"mutable-content":1}}}`,
      ];
      const body = `{"realm_uuid":"${world.realmUuid}","push_requests":[${requests}]}`;
      expect(await askRelay('notify', 'application/json', body)).toMatchObject({
        result: 'success',
        android_successfully_sent_count: 1,
        apple_successfully_sent_count: 1,
        delete_device_ids: [],
      });
      const [toAndroid] = await world.deliveriesTo(fcmToken);
      expect(toAndroid?.body).toMatchObject({
        message: { data: { push_account_id: pushAccountId, encrypted_data: encryptedData } },
      });
      const [toPhone] = await world.deliveriesTo(apnsToken);
      expect(toPhone?.text).toContain(`"push_account_id":${pushAccountId},`);
      const { encrypted_data: received } = (toPhone as Delivery).body as { encrypted_data: string };
      expect(new TextDecoder().decode(open(bytes(received)))).toBe(plaintext);
    },
  );
});
