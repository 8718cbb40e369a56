import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  openNotification,
} from '@waxwing/client';
import {
  encodePushKey,
  parsePushAccountId,
  parsePushKeyId,
  type TokenId,
  type UserId,
} from '@waxwing/protocol';
import { encodeNotification, type NotificationContent, sealNotification } from '@waxwing/server-push';
import { loadWasmSodium } from '@waxwing/sodium';
import { describe, expect, it } from 'vitest';
import { sealForKey } from '#server-push/notifications/seal-notification.js';
import { accountIdText, relayDeviceId, userId as user } from '../../support/ids.js';
import { openSealed, openSecretBox, seal, sealSecretBox } from '../../support/noble-oracle.js';

/** Payloads from stock servers in both generations, verbatim from those servers' tests. */
const samples = {
  'a channel message for a mentioned group':
    '{"channel_id":10,"channel_name":"Denmark","content":"@test_user_group","mentioned_user_group_id":41,"mentioned_user_group_name":"test_user_group","message_id":45,"realm_name":"Zulip Dev","realm_url":"http://zulip.testserver","recipient_type":"channel","sender_avatar_url":"https://secure.gravatar.com/avatar/818c212b9f8830dfef491b3f7da99a14?d=identicon&version=1","sender_full_name":"aaron","sender_id":6,"time":1754385395,"topic":"test","type":"message","user_id":10}',
  'a direct message':
    '{"content":"test content","message_id":46,"realm_name":"Zulip Dev","realm_url":"http://zulip.testserver","recipient_type":"direct","recipient_user_ids":[6,10,12,15],"sender_avatar_url":"https://secure.gravatar.com/avatar/818c212b9f8830dfef491b3f7da99a14?d=identicon&version=1","sender_full_name":"aaron","sender_id":6,"time":1754385290,"type":"message","user_id":10}',
  'the end of two messages':
    '{"message_ids":[31,32],"realm_name":"Zulip Dev","realm_url":"http://zulip.testserver","type":"remove","user_id":10}',
  'a test':
    '{"realm_name":"Zulip Dev","realm_url":"http://zulip.testserver","time":1754577820,"type":"test","user_id":10}',
};

const sodium = await loadWasmSodium();
const realm = { uuid: '', url: 'http://zulip.testserver', name: 'Zulip Dev' };
const ada = user(10);
const keyPair = sodium.generateKeyPair();
const [key, nonce] = [sodium.randomBytes(32), sodium.randomBytes(24)];
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** Fields of all samples. Each sample has a subset. */
interface Sample {
  readonly type: NotificationContent['type'];
  readonly time: number;
  readonly message_id: number;
  readonly message_ids: readonly number[];
  readonly content: string;
  readonly sender_id: number;
  readonly sender_full_name: string;
  readonly sender_avatar_url: string;
  readonly recipient_type: 'channel' | 'direct';
  readonly channel_id: number;
  readonly channel_name: string;
  readonly topic: string;
  readonly recipient_user_ids: readonly UserId[];
  readonly mentioned_user_group_id?: number;
  readonly mentioned_user_group_name: string;
}

/** Returns the input that makes our server send a sample's content. */
function contentOf(sample: Sample): NotificationContent {
  const { type, time, mentioned_user_group_id: group } = sample;
  if (type === 'test') return { type, time };
  if (type === 'remove') return { type, messageIds: sample.message_ids };
  const { channel_id: channelId, channel_name: channelName, topic } = sample;
  return {
    type: 'message',
    messageId: sample.message_id,
    time,
    content: sample.content,
    senderId: sample.sender_id,
    senderFullName: sample.sender_full_name,
    senderAvatarUrl: sample.sender_avatar_url,
    recipient:
      sample.recipient_type === 'direct'
        ? { kind: 'direct', userIds: sample.recipient_user_ids }
        : { kind: 'channel', channelId, channelName, topic },
    ...(group !== undefined && { mentionedUserGroup: { id: group, name: sample.mentioned_user_group_name } }),
  };
}

interface Generation {
  /** Returns the payload that a stock server sends for a plaintext. */
  readonly stockPayload: (plaintext: Uint8Array) => Record<string, unknown>;
  /** Returns the text that our server sends for the content, decrypted by another implementation. */
  readonly sent: (content: NotificationContent) => string;
}

const textOf = (plaintext: Uint8Array | undefined) => new TextDecoder().decode(plaintext);

const newer: Generation = {
  stockPayload: (plaintext) => ({
    push_key_id: 20,
    encrypted_data: base64(Buffer.concat([nonce, sealSecretBox(plaintext, nonce, key)])),
  }),
  sent(content) {
    const device = {
      push_key_id: parsePushKeyId(20) as never,
      push_key: encodePushKey(key),
      push_token_id: '+wKIhyAx/Eg=' as TokenId,
      push_token_kind: 'fcm',
    };
    const { payload } = sealForKey(sodium, device, content.type, encodeNotification(realm, ada, content));
    const box = Buffer.from(payload.encrypted_data, 'base64');
    return textOf(openSecretBox(box.subarray(24), box.subarray(0, 24), key));
  },
};

const older: Generation = {
  stockPayload: (plaintext) => ({
    push_account_id: '5',
    encrypted_data: base64(seal(plaintext, keyPair.publicKey, new Uint8Array(32).fill(9))),
  }),
  sent(content) {
    const device = {
      pushAccountId: accountIdText(5),
      pushPublicKey: base64(keyPair.publicKey),
      relayDeviceId: relayDeviceId(1),
      tokenKind: 'fcm',
    } as const;
    const encoded = encodeNotification(realm, ada, content);
    const { payload } = sealNotification(sodium, device, content.type, encoded);
    const box = Buffer.from(payload.encrypted_data, 'base64');
    return textOf(openSealed(box, keyPair.publicKey, keyPair.privateKey));
  },
};

/** Creates a phone with keys of both generations. */
async function phone() {
  const accounts = createMemoryPushAccountStore();
  await accounts.put({
    pushAccountId: parsePushAccountId('5') as never,
    realmUrl: realm.url,
    userId: ada,
    keyPair,
    registration: {
      pushToken: { tokenKind: 'fcm', token: 'token' },
      bouncerPublicKey: base64(keyPair.publicKey),
      timestamp: 1,
    },
    device: { pushKeys: [{ pushKeyId: parsePushKeyId(20) as never, key, createdAt: 1 }] },
  });
  return { sodium, accounts, seen: createMemorySeenNotifications() };
}

describe.each([
  ['newer', newer],
  ['older', older],
])('a sample payload in the %s generation', (_name, generation) => {
  it.each(Object.entries(samples))(
    'for %s is opened by our client, and has the same fields as from our server',
    async (_sample, text) => {
      const fields = JSON.parse(text) as Sample;
      const payload = generation.stockPayload(new TextEncoder().encode(text));
      const opened = await openNotification(await phone(), payload as never);
      const { recipient_type: _type, ...read } = fields;
      expect(opened).toMatchObject({ kind: 'notification', notification: read });
      expect(JSON.parse(generation.sent(contentOf(fields)))).toEqual(fields);
    },
  );
});
