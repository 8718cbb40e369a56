import { inspect } from 'node:util';
import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createTextStores,
  openNotification,
  type ReceivedPush,
} from '@waxwing/client';
import { parsePushAccountId } from '@waxwing/protocol';
import { loadWasmSodium } from '@waxwing/sodium';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { seal } from '../../support/noble-oracle.js';
import { relayProtocolVectors } from '../../support/protocol-vectors.js';
import { fromBase64, toBase64 } from './fake-chat-server.js';
import { TextsInMemory } from './texts-in-memory.js';

const { gen11 } = relayProtocolVectors();
const id = '9223372036854775807';
const sodium = await loadWasmSodium();
const message = {
  type: 'message',
  realm_url: 'https://zulip.example.com',
  user_id: 10,
  message_id: 45,
  time: 1773200000,
  content: 'café ☕…',
  sender_id: 6,
  sender_full_name: 'Iago',
  sender_avatar_url: 'https://zulip.example.com/avatar/6',
  recipient_user_ids: [6, 10],
};

const otherId = '9007199254740993';
const otherOrganization = 'https://other.example.com';

/** Creates a phone with the account in the vectors, and an account of a different organization. */
async function phone({ capacity = 2000, seen = createMemorySeenNotifications(capacity) } = {}) {
  const accounts = createMemoryPushAccountStore();
  for (const [pushAccountId, realmUrl] of [
    [id, 'https://zulip.example.com'],
    [otherId, otherOrganization],
  ] as const) {
    await accounts.put({
      pushAccountId: parsePushAccountId(pushAccountId) ?? (0n as never),
      realmUrl,
      userId: 10,
      keyPair: {
        publicKey: fromBase64(gen11.push_public_key),
        privateKey: fromBase64(gen11.client_private_key),
      },
      registration: {
        pushToken: { tokenKind: 'fcm', token: 'the-push-token' },
        bouncerPublicKey: gen11.push_public_key,
        timestamp: 1773200000,
      },
    });
  }
  return { open: (push: unknown) => openNotification({ sodium, accounts, seen }, push as ReceivedPush) };
}

/** Returns a push as a server would send it, sealed by the oracle. */
function push(plaintext: unknown, ephemeralByte = 9, pushAccountId = id) {
  const text = typeof plaintext === 'string' ? plaintext : JSON.stringify(plaintext);
  const ephemeral = new Uint8Array(32).fill(ephemeralByte);
  const sealed = seal(new TextEncoder().encode(text), fromBase64(gen11.push_public_key), ephemeral);
  return { push_account_id: pushAccountId, encrypted_data: toBase64(sealed) };
}

describe('What opening returns', () => {
  it('identifies the account without its keys and token, so that logging cannot print them', async () => {
    const { open } = await phone();
    const opened = await open(push(message));
    expect(opened).toEqual({
      kind: 'notification',
      notification: message,
      account: { pushAccountId: BigInt(id), realmUrl: 'https://zulip.example.com', userId: 10 },
    });
    const printed = inspect(opened, { depth: null, showHidden: true, maxArrayLength: null });
    expect(printed).not.toMatch(/the-push-token|privateKey|Uint8Array/);
  });
});

describe('A received push', () => {
  it.each([
    ['FCM data', { push_account_id: id, encrypted_data: gen11.encrypted_data }],
    [
      'APNs user info with a bigint id',
      { push_account_id: BigInt(id), encrypted_data: gen11.encrypted_data, aps: {} },
    ],
    [
      'the raw JSON text of APNs',
      `{"aps":{},"push_account_id":${id},"encrypted_data":"${gen11.encrypted_data}"}`,
    ],
    [
      'base64 in lines',
      { push_account_id: id, encrypted_data: gen11.encrypted_data.replace(/.{76}/g, '$&\n') },
    ],
  ])('opens from %s', async (_, received) => {
    const { open } = await phone();
    const opened = await open(received);
    expect(opened).toMatchObject({
      kind: 'notification',
      notification: JSON.parse(gen11.plaintext),
      account: { pushAccountId: BigInt(id), userId: 10 },
    });
  });

  it('opens with padding and with unknown fields', async () => {
    const { open } = await phone();
    const padded = `${JSON.stringify({ ...message, invented: { later: true } })}${' '.repeat(300)}`;
    await expect(open(push(padded))).resolves.toMatchObject({
      notification: { content: 'café ☕…', recipient_user_ids: [6, 10] },
    });
  });

  it('is ignored with an explanation if its id was rounded to a double', async () => {
    const { open } = await phone();
    const rounded = JSON.parse(`{"push_account_id":${id},"encrypted_data":"${gen11.encrypted_data}"}`);
    await expect(open(rounded)).resolves.toMatchObject({
      reason: 'rounded-account-id',
      explanation: expect.stringContaining('raw JSON text'),
    });
  });

  it.each([
    ['another id', { push_account_id: '5', encrypted_data: gen11.encrypted_data }, 'unknown-account'],
    ['no id', { encrypted_data: gen11.encrypted_data }, 'not-encrypted-push'],
    ['no data', { push_account_id: id }, 'not-encrypted-push'],
    ['data that is not a string', { push_account_id: id, encrypted_data: 7 }, 'not-encrypted-push'],
    ['data that is not base64', { push_account_id: id, encrypted_data: 'a-_b' }, 'not-encrypted-push'],
    ['empty data', { push_account_id: id, encrypted_data: '' }, 'cannot-open'],
    ['a box for another key', { push_account_id: id, encrypted_data: 'A'.repeat(100) }, 'cannot-open'],
    ['another app’s push', { title: 'Sale!' }, 'not-encrypted-push'],
    ['another organization', push({ ...message, realm_url: 'https://evil.example.com' }), 'wrong-account'],
    ['another port', push({ ...message, realm_url: 'https://zulip.example.com:8443' }), 'wrong-account'],
    ['an invalid realm_url', push({ ...message, realm_url: 'zulip.example.com' }), 'wrong-account'],
    ['another user', push({ ...message, user_id: 11 }), 'wrong-account'],
    ['a type from the future', push({ ...message, type: 'call' }), 'unknown-type'],
    ['no JSON', push('hello'), 'unknown-type'],
    ['content that is not an object', push('[]'), 'unknown-type'],
  ])('is ignored with %s', async (_, received, reason) => {
    const { open } = await phone();
    await expect(open(received)).resolves.toMatchObject({ kind: 'ignored', reason });
  });

  it.each([
    'https://ZULIP.example.com/',
    'HTTPS://zulip.example.com:443',
    'https://zulip.example.com/realm?x#y',
  ])('opens if it spells the organization’s URL as %s', async (realmUrl) => {
    const { open } = await phone();
    await expect(open(push({ ...message, realm_url: realmUrl }))).resolves.toMatchObject({
      kind: 'notification',
    });
  });

  it('opens once for each message, however often the message is sealed', async () => {
    const { open } = await phone();
    await expect(open(push(message, 1))).resolves.toMatchObject({ kind: 'notification' });
    await expect(open(push(message, 1))).resolves.toMatchObject({ reason: 'repeat' });
    await expect(open(push(message, 2))).resolves.toMatchObject({ reason: 'repeat' });
    await expect(open(push({ ...message, message_id: 46 }, 2))).resolves.toMatchObject({
      kind: 'notification',
    });
  });

  it('opens once for each ciphertext of a test notification', async () => {
    const { open } = await phone();
    const { realm_url, user_id, time } = message;
    const test = { type: 'test', realm_url, user_id, time };
    await expect(open(push(test, 1))).resolves.toMatchObject({ kind: 'notification' });
    await expect(open(push(test, 1))).resolves.toMatchObject({ reason: 'repeat' });
    await expect(open(push(test, 2))).resolves.toMatchObject({ kind: 'notification' });
  });

  it('opens each time if it is a removal, and is not recorded as seen', async () => {
    const { open } = await phone({ capacity: 1 });
    const { realm_url, user_id } = message;
    const remove = push({ type: 'remove', realm_url, user_id, message_ids: [45] }, 1);
    await open(push(message, 1));
    await expect(open(remove)).resolves.toMatchObject({ kind: 'notification' });
    await expect(open(remove)).resolves.toMatchObject({ kind: 'notification' });
    await expect(open(push(message, 1))).resolves.toMatchObject({ reason: 'repeat' });
    await expect(open(push({ ...message, message_id: 46 }))).resolves.toMatchObject({ kind: 'notification' });
  });

  it('opens for a new message whose id a restored server has reused', async () => {
    const { open } = await phone();
    await expect(open(push(message))).resolves.toMatchObject({ kind: 'notification' });
    const later = { ...message, time: message.time + 60 };
    await expect(open(push(later))).resolves.toMatchObject({ kind: 'notification' });
    await expect(open(push(later))).resolves.toMatchObject({ reason: 'repeat' });
  });

  it.each([
    ['in memory', () => createMemorySeenNotifications(20), 20],
    ['as text', () => createTextStores(new TextsInMemory()).seen, 150],
  ])('never opens twice, however many newer pushes have arrived: %s', async (_, createSeen, newer) => {
    const { open } = await phone({ seen: createSeen() });
    const first = push(message);
    await expect(open(first)).resolves.toMatchObject({ kind: 'notification' });
    for (let later = 1; later <= newer; later += 1) {
      const next = { ...message, message_id: message.message_id + later, time: message.time + later };
      await open(push(next));
    }
    await expect(open(first)).resolves.toMatchObject({ reason: 'repeat' });
  });

  it('opens in each of two organizations with the same message id and time', async () => {
    const { open } = await phone();
    const other = { ...message, realm_url: otherOrganization };
    await expect(open(push(message))).resolves.toMatchObject({ kind: 'notification' });
    await expect(open(push(other, 9, otherId))).resolves.toMatchObject({ kind: 'notification' });
    await expect(open(push(message))).resolves.toMatchObject({ reason: 'repeat' });
    await expect(open(push(other, 9, otherId))).resolves.toMatchObject({ reason: 'repeat' });
  });

  it('does not mark a message as seen if it is for the wrong account', async () => {
    const { open } = await phone();
    await open(push({ ...message, user_id: 11 }));
    await expect(open(push(message))).resolves.toMatchObject({ kind: 'notification' });
  });

  it('never throws, whatever the input is', async () => {
    const { open } = await phone();
    const hostile = fc.oneof(
      fc.anything(),
      fc.string(),
      fc.json(),
      fc.record({ push_account_id: fc.anything(), encrypted_data: fc.anything() }),
      fc.record({ push_account_id: fc.constant(id), encrypted_data: fc.base64String() }),
    );
    await fc.assert(
      fc.asyncProperty(hostile, async (received) => {
        expect(await open(received)).toMatchObject({ kind: 'ignored', explanation: expect.any(String) });
      }),
      { numRuns: 500 },
    );
  });

  it('never throws, whatever content a server has sealed', async () => {
    const { open } = await phone();
    const hostile = fc.oneof(
      fc.json(),
      fc
        .dictionary(fc.constantFrom(...Object.keys(message), 'message_ids'), fc.jsonValue())
        .map((fields) => JSON.stringify({ ...message, ...fields })),
    );
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        expect(['notification', 'ignored']).toContain((await open(push(text))).kind);
      }),
      { numRuns: 200 },
    );
  });
});
