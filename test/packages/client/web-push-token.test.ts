import {
  createTextStores,
  fromPushSubscription,
  fromUnifiedPush,
  type PushSubscriptionLike,
  type UnifiedPushEndpoint,
} from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import { createPhone } from './phone.js';
import { TextsInMemory } from './texts-in-memory.js';

const endpoint = 'https://push.example.com/wpush/v2/gAAAAAB-_x?x=1';
const p256dh = `BD${'aZ0-_b'.repeat(14)}k`;
const auth = 'k8JV6sjdbhAi1n3_LDBLvA';
const token = JSON.stringify({ endpoint, p256dh, auth });
const json = { endpoint, expirationTime: null, keys: { p256dh, auth } };

/** A subscription as in browsers: its properties are on the prototype, and only methods return the keys. */
class BrowserSubscription {
  get endpoint(): string {
    return endpoint;
  }
  toJSON() {
    return json;
  }
}

describe('The token of a Web Push subscription', () => {
  it.each([
    ['a browser’s subscription', new BrowserSubscription()],
    ['its JSON', json],
    ['its JSON with padding', { ...json, keys: { p256dh: `${p256dh}=`, auth: `${auth}==` } }],
  ])('is built from %s', (_, subscription) => {
    expect(fromPushSubscription(subscription)).toEqual({ tokenKind: 'webpush', token });
  });

  it('is built from a UnifiedPush endpoint', () => {
    const given = { url: endpoint, pubKeySet: { pubKey: p256dh, auth }, temporary: false };
    expect(fromUnifiedPush(given)).toEqual({ tokenKind: 'webpush', token });
  });

  it.each([
    ['nothing', null, 'subscription must be a PushSubscription'],
    ['no keys', { endpoint }, 'subscription has no keys'],
    ['only one key', { endpoint, keys: { auth } }, 'subscription has no keys'],
    [
      'plain http',
      { ...json, endpoint: 'http://push.example.com/secret' },
      'subscription cannot be used: the endpoint',
    ],
    [
      'an auth secret that is too short',
      { endpoint, keys: { p256dh, auth: 'private' } },
      'subscription cannot be used: auth must be',
    ],
    [
      'another curve',
      { endpoint, keys: { p256dh: 'private', auth } },
      'subscription cannot be used: p256dh must be',
    ],
  ])('is rejected with an error that names the invalid field: %s', (_, given, message) => {
    const make = () => fromPushSubscription(given as PushSubscriptionLike);
    expect(make).toThrow(RangeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow('private');
  });

  it.each([
    ['nothing', undefined, 'endpoint must be the endpoint object of the UnifiedPush connector'],
    ['an older connector’s endpoint', { url: endpoint, pubKeySet: null }, 'endpoint has no keys'],
    [
      'a bad URL',
      { url: 'up', pubKeySet: { pubKey: p256dh, auth } },
      'endpoint cannot be used: the endpoint',
    ],
  ])('is rejected for UnifiedPush with an error that names the invalid field: %s', (_, given, message) => {
    const make = () => fromUnifiedPush(given as UnifiedPushEndpoint);
    expect(make).toThrow(RangeError);
    expect(make).toThrow(message);
  });
});

describe.each([431, 512])('A phone with Web Push, at feature level %d', (level) => {
  async function createWebPushPhone() {
    const { keyList: _keyList, ...stores } = createTextStores(new TextsInMemory());
    const phone = await createPhone(stores);
    phone.server.featureLevel = level;
    phone.knobs.token = fromPushSubscription(json);
    const opened = () =>
      (level < 468 ? phone.server.registrations : phone.server.clientDevices.opened).map(
        ({ registration }) => registration,
      );
    const kinds = () =>
      phone.server
        .requestsTo('mobile_push/register')
        .flatMap(({ fields }) => (fields.has('token_kind') ? [fields.get('token_kind')] : []));
    return { ...phone, opened, kinds };
  }

  it('registers the subscription once while it stays the same', async () => {
    const { registrar, opened, kinds, knobs } = await createWebPushPhone();
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    knobs.token = fromPushSubscription(new BrowserSubscription());
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    expect(opened()).toEqual([expect.objectContaining({ token_kind: 'webpush', token })]);
    expect(kinds()).toEqual(['webpush']);
  });

  it('registers again when the browser replaces the subscription, or only its keys', async () => {
    const { registrar, opened, knobs } = await createWebPushPhone();
    await registrar.sync();
    const moved = { ...json, endpoint: `${endpoint}2` };
    const rekeyed = { ...moved, keys: { ...json.keys, auth: 'AAAAAAAAAAAAAAAAAAAAAA' } };
    for (const subscription of [moved, rekeyed]) {
      knobs.token = fromPushSubscription(subscription);
      expect(await registrar.sync()).toMatchObject({ code: 'active' });
      expect(opened().at(-1)).toMatchObject({ token: knobs.token.token });
    }
    expect(opened()).toHaveLength(3);
  });

  it('moves from FCM to Web Push with the same account', async () => {
    const { registrar, opened, knobs, accounts } = await createWebPushPhone();
    const webPush = knobs.token;
    knobs.token = { tokenKind: 'fcm', token: 'fcm-token' };
    await registrar.sync();
    knobs.token = webPush;
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    expect(opened().map(({ token_kind: kind }) => kind)).toEqual(['fcm', 'webpush']);
    expect(await accounts.list()).toHaveLength(1);
  });

  it('sends the kind fcm to a server that knows only fcm, and seals the real kind for the relay', async () => {
    const { server, registrar, opened, kinds } = await createWebPushPhone();
    server.overrides.set('/api/v1/mobile_push/register', () =>
      kinds().at(-1) === 'webpush' ? server.error('BAD_REQUEST') : undefined,
    );
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    expect(kinds()).toEqual(['webpush', 'fcm']);
    expect(opened()).toEqual([expect.objectContaining({ token_kind: 'webpush', token })]);
  });
});
