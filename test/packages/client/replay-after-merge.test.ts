import { createMemorySeenNotifications, createTextStores, type PushKey } from '@waxwing/client';
import { encodeBase64, type PushAccountId, type PushKeyId } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { sealSecretBox } from '../../support/noble-oracle.js';
import { createPhone } from './phone.js';
import { TextsInMemory } from './texts-in-memory.js';

/** Returns a message as FCM delivers it, encrypted with a push key. */
function push({ pushKeyId, key }: PushKey, realm_url: string, message_id: number) {
  const message = {
    type: 'message',
    realm_url,
    user_id: 10,
    message_id,
    time: 1_773_200_000 + message_id,
    sender_id: 11,
    sender_full_name: 'Ophelia',
    sender_avatar_url: 'https://chat.example.com/avatar/11',
    recipient_type: 'direct',
    recipient_user_ids: [10, 11],
    content: 'hello',
  };
  const nonce = new Uint8Array(24).fill(message_id);
  const box = sealSecretBox(new TextEncoder().encode(JSON.stringify(message)), nonce, key);
  return { push_key_id: String(pushKeyId), encrypted_data: encodeBase64(Uint8Array.of(...nonce, ...box)) };
}

const repeat = { reason: 'repeat' };
const shown = { kind: 'notification' };

describe.each([
  ['in memory', () => createMemorySeenNotifications()],
  ['as text', () => createTextStores(new TextsInMemory()).seen],
])('A push that was opened, with seen notifications %s', (_, createSeen) => {
  async function registered() {
    const phone = await createPhone({ seen: createSeen() });
    phone.server.featureLevel = 470;
    await phone.registrar.sync();
    const [row] = await phone.accounts.list();
    const [key] = row?.device?.pushKeys ?? [];
    if (row === undefined || key === undefined) throw new Error('The phone has no push key.');
    return { ...phone, row, key, url: phone.server.url };
  }

  it.each([
    ['first', -1n],
    ['second', 1n],
  ])(
    'is not opened again after its row was merged with another row: as the %s',
    async (_order, difference) => {
      const { accounts, client, registrar, row, key, url } = await registered();
      const otherKey = { ...key, pushKeyId: 77 as PushKeyId, key: new Uint8Array(32).fill(9) };
      const pushAccountId = (row.pushAccountId + difference) as PushAccountId;
      await accounts.put({ ...row, pushAccountId, device: { pushKeys: [otherKey] } });
      const pushes = [push(key, url, 1), push(otherKey, url, 2)];
      for (const each of pushes) expect(await client.open(each)).toMatchObject(shown);
      await registrar.sync();
      expect(await accounts.list()).toHaveLength(1);
      for (const each of pushes) expect(await client.open(each)).toMatchObject(repeat);
      expect(await client.open(push(key, url, 3))).toMatchObject(shown);
    },
  );

  it('is not opened again by the replacement of an account whose registrations the relay refuses', async () => {
    const { server, accounts, client, registrar, row, key, url } = await registered();
    expect(await client.open(push(key, url, 1))).toMatchObject(shown);
    server.featureLevel = 431;
    // A sequence that is 400 days ahead of the clock makes the phone start a new account.
    await accounts.put({ ...row, sequence: (server.now + 400 * 86_400_000) * 1000 });
    const { pushAccountId } = await registrar.sync();
    expect(pushAccountId).not.toBe(row.pushAccountId);
    expect(await client.open(push(key, url, 1))).toMatchObject(repeat);
    expect(await client.open(push(key, url, 2))).toMatchObject(shown);
  });
});
