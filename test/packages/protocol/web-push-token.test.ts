import {
  encodePushRegistration,
  encodeWebPushToken,
  maximumPushEndpointCharacters,
  parsePushRegistration,
  parseWebPushToken,
  registerClientPushParameters,
  registerPushDeviceParameters,
} from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';

const p256dh = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)]).toString('base64url');
const auth = Buffer.alloc(16, 9).toString('base64url');
const endpoint = 'https://push.example/AbC';
const subscription = { endpoint, p256dh, auth };
const textOf = (fields: object) => JSON.stringify({ ...subscription, ...fields });

/** Endpoints as push services assign them, that is, serialized by a URL parser. */
const anyEndpoint = fc
  .webUrl({ validSchemes: ['https'], withQueryParameters: true })
  .filter((url) => URL.canParse(url) && !/['^]/.test(url))
  .map((url) => new URL(url).href);
const anySubscription = fc
  .record({
    endpoint: anyEndpoint,
    point: fc.uint8Array({ minLength: 64, maxLength: 64 }),
    secret: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  })
  .map(({ endpoint, point, secret }) => ({
    endpoint,
    p256dh: Buffer.from([4, ...point]).toString('base64url'),
    auth: Buffer.from(secret).toString('base64url'),
  }));

describe('a Web Push token', () => {
  it('round-trips for every subscription', () => {
    fc.assert(
      fc.property(anySubscription, (generated) => {
        const token = encodeWebPushToken(generated);
        expect(token).toBe(JSON.stringify(generated));
        expect(parseWebPushToken(token)).toEqual(generated);
      }),
    );
  });

  it('has only endpoints that a URL parser leaves unchanged', () => {
    const part = fc.stringMatching(/^[a-zA-Z0-9.:@/?#%\\_~|^'"<>{}[\]-]{0,12}$/);
    fc.assert(
      fc.property(part, part, part, (host, path, query) => {
        const url = `https://${host}/${path}?${query}`;
        if (parseWebPushToken(textOf({ endpoint: url })) === undefined) return;
        // A punycode label may be invalid. In that case, the relay cannot resolve the host.
        if (!/xn--/.test(host)) expect(new URL(url).href).toBe(url);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    'https://fcm.googleapis.com/fcm/send/cX-1:APA91bH_x',
    'https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk-_x',
    'https://wns2-par02p.notify.windows.com/w/?token=BQYAAABx%2f%3d',
    'https://web.push.apple.com/QGx-y_z',
    'https://ntfy.example/upAbC123?up=1',
    'https://push.example:8443/index.php/apps/uppush/push/7f0c',
    'https://203.0.113.7:8443/a',
    'https://xn--bcher-kva.example/a',
    `https://push.example/${'a'.repeat(maximumPushEndpointCharacters - 'https://push.example/'.length)}`,
  ])('may have the endpoint %s', (url) => {
    expect(new URL(url).href).toBe(url);
    expect(parseWebPushToken(encodeWebPushToken({ ...subscription, endpoint: url }))?.endpoint).toBe(url);
  });

  it.each([
    'http://push.example/a',
    'HTTPS://push.example/a',
    'https://PUSH.example/a',
    'https://push.example',
    'https://push.example:443/a',
    'https://push.example:0443/a',
    'https://push.example:65536/a',
    'https://push.example:0/a',
    'https://push.example./a',
    'https://push..example/a',
    'https://user@push.example/a',
    'https://user:password@push.example/a',
    'https://push.example/a#b',
    'https://push.example/a b',
    'https://push.example/a\n',
    'https://push.example/a/../b',
    'https://push.example/a/%2E%2e/b',
    'https://push.example/./b',
    'https://push.example/é',
    'https://bücher.example/a',
    'https://push.example\\a',
    'https://[2001:db8::1]/a',
    'https://[::ffff:10.0.0.1]/a',
    'https://[fe80::1%25eth0]/a',
    'https://2130706433/a',
    'https://0x7f000001/a',
    'https://0177.0.0.1/a',
    'https://127.1/a',
    'https://127.0.0.256/a',
    'https://1.2.3.4.5/a',
    'https://push.0x7f/a',
    'https://%31%32%37.0.0.1/a',
    'https:///a',
    '//push.example/a',
    'file:///etc/passwd',
    '',
    `https://push.example/${'a'.repeat(maximumPushEndpointCharacters - 'https://push.example/'.length + 1)}`,
  ])('is rejected with the endpoint %s', (url) => {
    expect(parseWebPushToken(textOf({ endpoint: url }))).toBeUndefined();
    expect(() => encodeWebPushToken({ ...subscription, endpoint: url })).toThrow(/^the endpoint /);
  });

  it('is rejected with keys of a wrong length, form or alphabet', () => {
    const compressed = Buffer.concat([Buffer.from([2]), Buffer.alloc(32, 7)]).toString('base64url');
    const hybrid = Buffer.concat([Buffer.from([6]), Buffer.alloc(64, 7)]).toString('base64url');
    for (const key of ['', compressed, hybrid, `${p256dh}A`, p256dh.slice(1), `${p256dh.slice(0, -1)}d`]) {
      expect(parseWebPushToken(textOf({ p256dh: key }))).toBeUndefined();
      expect(() => encodeWebPushToken({ ...subscription, p256dh: key })).toThrow(/^p256dh must be/);
    }
    const short = Buffer.alloc(15).toString('base64url');
    for (const secret of ['', short, `${auth.slice(0, -1)}R`, `${auth.slice(0, -1)}*`]) {
      expect(parseWebPushToken(textOf({ auth: secret }))).toBeUndefined();
      expect(() => encodeWebPushToken({ ...subscription, auth: secret })).toThrow(/^auth must be/);
    }
  });

  it('is encoded from keys in standard base64, and parsed only with keys in base64url', () => {
    const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 0xfb)]);
    const secret = Buffer.alloc(16, 0xff);
    const standard = { endpoint, p256dh: point.toString('base64'), auth: secret.toString('base64') };
    const token = encodeWebPushToken(standard);
    expect(parseWebPushToken(token)).toEqual({
      endpoint,
      p256dh: point.toString('base64url'),
      auth: secret.toString('base64url'),
    });
    expect(parseWebPushToken(JSON.stringify(standard))).toBeUndefined();
  });

  it('has one spelling, without other orders, white space, fields or escapes', () => {
    const token = encodeWebPushToken(subscription);
    const others = [
      ` ${token}`,
      token.replace(',', ', '),
      JSON.stringify({ p256dh, auth, endpoint }),
      textOf({ expirationTime: null }),
      token.replace('https:/', 'https:\\/'),
      token.replace('push', '\\u0070ush'),
      token.replace('{', '{"endpoint":"https://other.example/",'),
      JSON.stringify({ endpoint, p256dh }),
      textOf({ auth: 1 }),
      '[]',
      'null',
      '',
    ];
    for (const text of others) expect(parseWebPushToken(text)).toBeUndefined();
  });
});

describe('a registration of kind webpush', () => {
  const registration = { tokenKind: 'webpush', timestamp: 1_772_323_200 } as const;

  it('round-trips', () => {
    fc.assert(
      fc.property(anySubscription, (generated) => {
        const encoded = encodePushRegistration({ ...registration, token: encodeWebPushToken(generated) });
        expect(parsePushRegistration(encoded)).toEqual({
          ...registration,
          token: encodeWebPushToken(generated),
        });
      }),
    );
  });

  it('is rejected with a token in another spelling, or with an app id', () => {
    const token = encodeWebPushToken(subscription);
    const parse = (fields: object) =>
      parsePushRegistration(
        Buffer.from(JSON.stringify({ token_kind: 'webpush', token, timestamp: 1, ...fields })),
      );
    expect(parse({ ios_app_id: null })).toMatchObject({ tokenKind: 'webpush', token });
    expect(parse({ token: `${token} ` })).toBeUndefined();
    expect(parse({ token: 'fcm-token' })).toBeUndefined();
    expect(parse({ ios_app_id: 'org.example.app' })).toBeUndefined();
  });

  it('has a token kind that the forms of both generations accept', () => {
    expect(registerClientPushParameters.shape.token_kind.parse('webpush')).toBe('webpush');
    expect(registerPushDeviceParameters.shape.token_kind.parse('webpush')).toBe('webpush');
    expect(registerPushDeviceParameters.shape.token_kind.safeParse('web').success).toBe(false);
  });
});
