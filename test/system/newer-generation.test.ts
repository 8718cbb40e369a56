import { hash, randomBytes } from 'node:crypto';
import { parseNotification } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addUsers } from '../support/add-users.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import { openSecretBox, seal } from '../support/noble-oracle.js';
import { runJsonCommand } from '../support/spawned-process.js';

let world: Constellation;
let ada: ConstellationUser;
let bob: ConstellationUser;

beforeEach(async () => {
  world = await Constellation.create();
  [ada, bob] = (await addUsers(world, ['ada', 'bob'])) as [ConstellationUser, ConstellationUser];
  await Promise.all([world.startRelay(), world.startServer()]);
}, 120_000);
afterEach(() => world.close());

const ask = async (path: string, fields: Record<string, string> = {}) =>
  JSON.parse((await world.request(ada, 'POST', path, fields)).text) as Record<string, unknown>;

const devices = async () =>
  (await ask('register', { fetch_event_types: '["device"]' })).devices as Record<string, object>;

function tokenGroup(token: string): Record<string, string> {
  const plaintext = JSON.stringify({ token_kind: 'fcm', token, timestamp: Math.floor(Date.now() / 1000) });
  const sealed = seal(Buffer.from(plaintext), Buffer.from(world.bouncerPublicKey, 'base64'), randomBytes(32));
  return {
    token_kind: 'fcm',
    token_id: hash('sha256', token, 'buffer').subarray(0, 8).toString('base64'),
    bouncer_public_key: world.bouncerPublicKey,
    encrypted_push_registration: Buffer.from(sealed).toString('base64'),
  };
}

const tell = (content: string) =>
  world.request(bob, 'POST', 'messages', { type: 'direct', to: JSON.stringify([ada.user_id]), content });

/** Texts of the messages delivered to a token, in delivery order, decrypted with the phone's key. */
async function readBy(token: string, key: Uint8Array): Promise<(string | undefined)[]> {
  return (await world.deliveriesTo(token)).map(({ body }) => {
    const { data } = (body as { message: { data: Record<string, string> } }).message;
    expect(data.push_key_id).toBe('4294967295');
    const bytes = Buffer.from(data.encrypted_data ?? '', 'base64');
    const opened = openSecretBox(bytes.subarray(24), bytes.subarray(0, 24), key);
    const notification = opened && parseNotification(opened);
    return notification?.type === 'message' ? notification.content : undefined;
  });
}

describe('a phone of the newer generation', () => {
  it('receives messages through server, relay and vendor, also with a new token, until it signs out', async () => {
    const { device_id: id } = await ask('register_client_device');
    const device_id = String(id);
    const key = randomBytes(32);
    const push_key = Buffer.concat([Buffer.of(0x31), key]).toString('base64');
    const [first, second] = ['a-first-token:APA91b', 'a-second-token:APA91b'].map(tokenGroup) as [
      Record<string, string>,
      Record<string, string>,
    ];
    const inForce = ({ token_id }: Record<string, string>) => ({
      [device_id]: expect.objectContaining({ push_token_id: token_id, pending_push_token_id: null }),
    });
    await ask('mobile_push/register', { device_id, push_key_id: '4294967295', push_key, ...first });
    await expect.poll(devices, { timeout: 20_000 }).toEqual(inForce(first));
    await tell('the first message');
    const byFirst = () => readBy('a-first-token:APA91b', key);
    const bySecond = () => readBy('a-second-token:APA91b', key);
    await expect.poll(byFirst, { timeout: 20_000 }).toEqual(['the first message']);

    await ask('mobile_push/register', { device_id, ...second });
    await expect.poll(devices, { timeout: 20_000 }).toEqual(inForce(second));
    await tell('the second message');
    await expect.poll(bySecond, { timeout: 20_000 }).toEqual(['the second message']);
    expect(await byFirst()).toEqual(['the first message']);

    await ask('remove_client_device', { device_id });
    const other = await ask('register_client_device');
    const third = { device_id: String(other.device_id), ...tokenGroup('a-third-token:APA91b') };
    await ask('mobile_push/register', { ...third, push_key_id: '4294967295', push_key });
    const tokenOfOther = async () => Object.values(await devices());
    await expect
      .poll(tokenOfOther, { timeout: 20_000 })
      .toEqual([expect.objectContaining({ push_token_id: tokenGroup('a-third-token:APA91b').token_id })]);
    await tell('the third message');
    const byThird = () => readBy('a-third-token:APA91b', key);
    await expect.poll(byThird, { timeout: 20_000 }).toEqual(['the third message']);
    expect([await byFirst(), await bySecond()]).toEqual([['the first message'], ['the second message']]);
  }, 120_000);

  it('loses its devices when its user gets a new API key', async () => {
    const { device_id: id } = await ask('register_client_device');
    expect(Object.keys(await devices())).toEqual([String(id)]);
    const rotated = await runJsonCommand<{ api_key: string }>(
      'waxwing-server',
      ['users', 'rotate-key', ada.email, '--yes'],
      { env: world.serverEnv },
    );
    ada = { ...ada, api_key: rotated.api_key };
    expect(await devices()).toEqual({});
  }, 120_000);
});
