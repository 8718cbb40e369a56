import {
  maximumNotificationBytes,
  notificationSizeBucketsBytes,
  parseNotification,
  stringifyJson,
  vendorPayloadLimitBytes,
} from '@waxwing/protocol';
import { encodeNotification, type NotificationContent, sealNotification } from '@waxwing/server-push';
import { loadWasmSodium } from '@waxwing/sodium';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { accountIdText, relayDeviceId, userId as user } from '../../support/ids.js';

const sodium = await loadWasmSodium();
const { publicKey } = sodium.generateKeyPair();
const realm = { uuid: '', url: 'https://chat.example.com', name: 'Example' };

const decode = (bytes: Uint8Array) =>
  JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Record<string, unknown>;

function message(changes: Partial<Extract<NotificationContent, { type: 'message' }>> = {}) {
  return {
    type: 'message',
    messageId: 45,
    time: 1_754_385_395,
    content: 'hello',
    senderId: 6,
    senderFullName: 'aaron',
    senderAvatarUrl: 'https://chat.example.com/avatar/6',
    recipient: { kind: 'channel', channelId: 10, channelName: 'Denmark', topic: 'test' },
    ...changes,
  } as const satisfies NotificationContent;
}

describe('an encoded notification', () => {
  it('contains the recipient and the time if it is a test', () => {
    const bytes = encodeNotification(realm, user(10), { type: 'test', time: 1_754_577_820 });
    expect(decode(bytes)).toEqual({
      realm_name: 'Example',
      realm_url: 'https://chat.example.com',
      time: 1_754_577_820,
      type: 'test',
      user_id: 10,
    });
    expect(bytes).toHaveLength(512);
    expect(new TextDecoder().decode(bytes)).toMatch(/^\{.*\} +$/);
  });

  it('contains a channel message and the mentioned group', () => {
    const content = message({ mentionedUserGroup: { id: 41, name: 'test_user_group' } });
    expect(decode(encodeNotification(realm, user(10), content))).toEqual({
      channel_id: 10,
      channel_name: 'Denmark',
      content: 'hello',
      mentioned_user_group_id: 41,
      mentioned_user_group_name: 'test_user_group',
      message_id: 45,
      realm_name: 'Example',
      realm_url: 'https://chat.example.com',
      recipient_type: 'channel',
      sender_avatar_url: 'https://chat.example.com/avatar/6',
      sender_full_name: 'aaron',
      sender_id: 6,
      time: 1_754_385_395,
      topic: 'test',
      type: 'message',
      user_id: 10,
    });
  });

  it('contains a direct message and all participants in ascending order', () => {
    const content = message({ recipient: { kind: 'direct', userIds: [15, 6, 12, 10].map(user) } });
    const decoded = decode(encodeNotification(realm, user(10), content));
    expect(decoded).toMatchObject({ recipient_type: 'direct', recipient_user_ids: [6, 10, 12, 15] });
    expect(decoded).not.toHaveProperty('channel_id');
  });

  it('contains the 200 newest messages in ascending order if it is a removal', () => {
    const messageIds = Array.from({ length: 300 }, (_, index) => 300 - index);
    const { message_ids: ids } = decode(encodeNotification(realm, user(10), { type: 'remove', messageIds }));
    expect(ids).toEqual(Array.from({ length: 200 }, (_, index) => 101 + index));
  });

  it('has content of at most 200 code points, and never splits a code point', () => {
    const at = (length: number) =>
      decode(encodeNotification(realm, user(1), message({ content: '🎉'.repeat(length) }))).content;
    expect(at(200)).toBe('🎉'.repeat(200));
    expect(at(201)).toBe(`${'🎉'.repeat(200)}…`);
  });

  it.each([
    [0, 512],
    [512, 512],
    [513, 1024],
    [1024, 1024],
    [1025, 2048],
    [2049, 2800],
    [2800, 2800],
    [2801, 2800],
  ])('is padded from %i to %i bytes', (bytes, bucket) => {
    const named = (name: string) =>
      encodeNotification({ ...realm, name }, user(1), { type: 'test', time: 1 });
    const empty = new TextDecoder().decode(named('')).trimEnd().length;
    const encoded = named('n'.repeat(Math.max(0, bytes - empty)));
    expect(encoded).toHaveLength(bucket);
    expect(Buffer.byteLength(new TextDecoder().decode(encoded).trimEnd())).toBe(
      Math.min(Math.max(bytes, empty), maximumNotificationBytes),
    );
  });

  it('is truncated first in its content, then in topic and names, but not in fields that the phone compares', () => {
    const long = '"\u0001é漢🎉'.repeat(120);
    const shortened = (topic: string, channelName: string) => {
      const recipient = { kind: 'channel', channelId: 10, channelName, topic } as const;
      return decode(encodeNotification(realm, user(10), message({ content: '漢'.repeat(200), recipient })));
    };
    const first = shortened('kept', long);
    expect(first.content).toMatch(/^漢+…$/);
    expect(first).toMatchObject({ topic: 'kept', channel_name: long });
    const second = shortened('not kept', long.repeat(3));
    expect(second).toMatchObject({ content: '', topic: '', sender_full_name: 'aaron' });
    expect(second.channel_name).toMatch(/^".é漢🎉.*…$/u);
    expect(second).toMatchObject({
      realm_url: realm.url,
      user_id: 10,
      message_id: 45,
      realm_name: 'Example',
    });
  });
});

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 6000, size: 'max' }),
  fc.string({
    unit: fc.constantFrom('\u0000', '"', '\\', '\ud800', '\udfff', '🎉', '漢', 'é', 'a'),
    maxLength: 3000,
    size: 'max',
  }),
);
const id = fc.maxSafeNat();
const ids = fc.array(id, { maxLength: 2500, size: 'max' });
const content: fc.Arbitrary<NotificationContent> = fc.oneof(
  fc.record({ type: fc.constant('test' as const), time: id }),
  fc.record({ type: fc.constant('remove' as const), messageIds: ids }),
  fc.record(
    {
      type: fc.constant('message' as const),
      messageId: id,
      time: id,
      content: text,
      senderId: id,
      senderFullName: text,
      senderAvatarUrl: text,
      recipient: fc.oneof(
        fc.record({ kind: fc.constant('channel' as const), channelId: id, channelName: text, topic: text }),
        fc.record({ kind: fc.constant('direct' as const), userIds: ids.map((all) => all.map(user)) }),
      ),
      mentionedUserGroup: fc.record({ id, name: text }),
    },
    {
      requiredKeys: [
        'type',
        'messageId',
        'time',
        'content',
        'senderId',
        'senderFullName',
        'senderAvatarUrl',
        'recipient',
      ],
    },
  ),
);
const longestUrl = `https://${'h'.repeat(492)}`;

describe('for any content of a notification', () => {
  it('the notification is valid, has a published size, and fits both vendors', () => {
    const device = {
      pushAccountId: accountIdText('-9223372036854775808'),
      relayDeviceId: relayDeviceId(Number.MAX_SAFE_INTEGER),
    };
    const pushPublicKey = Buffer.from(publicKey).toString('base64');
    fc.assert(
      fc.property(content, text, fc.constantFrom(realm.url, longestUrl), id, (content, name, url, userId) => {
        const encoded = encodeNotification({ uuid: '', url, name }, user(userId), content);
        expect(notificationSizeBucketsBytes).toContain(encoded.length);
        expect(parseNotification(encoded)).toMatchObject({
          type: content.type,
          realm_url: url,
          user_id: userId,
        });
        const send = (tokenKind: 'fcm' | 'apns') =>
          sealNotification(sodium, { ...device, tokenKind, pushPublicKey }, content.type, encoded);
        const apnsBody = stringifyJson(send('apns').payload as never);
        expect(Buffer.byteLength(apnsBody)).toBeLessThanOrEqual(vendorPayloadLimitBytes);
        const { payload } = send('fcm');
        const data = [
          'push_account_id',
          String(payload.push_account_id),
          'encrypted_data',
          payload.encrypted_data,
        ];
        expect(Buffer.byteLength(data.join(''))).toBeLessThanOrEqual(vendorPayloadLimitBytes);
      }),
      { numRuns: 300 },
    );
  });

  it('a truncated text is a prefix of whole code points and an ellipsis', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 4000, size: 'max' }), (topic) => {
        const recipient = { kind: 'channel', channelId: 1, channelName: 'c', topic } as const;
        const decoded = decode(encodeNotification(realm, user(1), message({ recipient })));
        const shown = [...String(decoded.topic)];
        if (decoded.topic === topic) return;
        expect(shown.at(-1)).toBe('…');
        expect([...topic].slice(0, shown.length - 1)).toEqual(shown.slice(0, -1));
      }),
      { numRuns: 200 },
    );
  });
});
