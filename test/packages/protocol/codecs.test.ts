import {
  decodeBase64,
  decodeCiphertextBase64,
  encodeBase64,
  formatPushAccountId,
  normalizeCiphertextBase64,
  parseJson,
  parseNotification,
  parsePushAccountId,
  pushAccountIdFromBytes,
  relayNotifyRequest,
  stringifyJson,
} from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('base64', () => {
  it('round-trips every byte string, and agrees with the platform', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encodeBase64(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64'));
        expect(decodeBase64(text)).toEqual(bytes);
      }),
    );
  });

  it('works the same on platforms without Buffer', async () => {
    const { Buffer: nodeBuffer } = globalThis;
    const bytes = Uint8Array.from({ length: 20_000 }, (_, index) => (index * 7) % 256);
    const expected = nodeBuffer.from(bytes).toString('base64');
    Reflect.deleteProperty(globalThis, 'Buffer');
    try {
      // The query string loads a second copy of the module, which is evaluated without Buffer.
      const path = '../../../packages/protocol/src/base64.js?without-buffer';
      const plain = (await import(path)) as typeof import('@waxwing/protocol');
      expect(plain.encodeBase64(bytes)).toBe(expected);
      expect(plain.decodeBase64(expected)).toEqual(bytes);
    } finally {
      globalThis.Buffer = nodeBuffer;
    }
  });

  it('has exactly one encoding for each byte string', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9+/=_ -]{0,16}$/), (text) => {
        const bytes = decodeBase64(text);
        if (bytes !== undefined) expect(encodeBase64(bytes)).toBe(text);
      }),
    );
  });

  it.each(['QQ', 'QQ=', 'QR==', 'QUI', 'QUJ=', 'Q-__', 'QQ==\n', ' QQ==', 'QQ==QQ==', '=', 'QUJDé'])(
    'is rejected for %j',
    (text) => expect(decodeBase64(text)).toBeUndefined(),
  );

  it('ignores only ASCII white space in ciphertext', () => {
    expect(normalizeCiphertextBase64(' QU\r\nJD\t\v\f')).toBe('QUJD');
    expect(normalizeCiphertextBase64('QU\u00a0JD')).toBeUndefined();
    expect(normalizeCiphertextBase64('QU-JD')).toBeUndefined();
    expect(decodeCiphertextBase64(' QU\r\nJD\t\v\f')).toEqual(new Uint8Array([65, 66, 67]));
    expect(decodeCiphertextBase64('QU\u00a0JD')).toBeUndefined();
    expect(decodeCiphertextBase64('QU-J')).toBeUndefined();
  });
});

describe('64-bit ids', () => {
  it('survive JSON in both directions without rounding', () => {
    fc.assert(
      fc.property(int64, (id) => {
        const text = stringifyJson({ push_account_id: id });
        expect(text).toBe(`{"push_account_id":${id}}`);
        const parsed = parseJson(text) as { push_account_id: number | bigint };
        expect(parsePushAccountId(parsed.push_account_id)).toBe(id);
      }),
    );
  });

  it('survive forms and events as decimal strings', () => {
    fc.assert(
      fc.property(int64, (id) => {
        const parsed = parsePushAccountId(String(id));
        expect(parsed).toBe(id);
        expect(parsed !== undefined && formatPushAccountId(parsed)).toBe(String(id));
      }),
    );
  });

  it('are rejected outside 64 bits and in any other spelling', () => {
    const wrong = [
      2n ** 63n,
      -(2n ** 63n) - 1n,
      '9223372036854775808',
      '1.0',
      '01',
      '',
      ' 1',
      '1e3',
      '0x1',
      1.5,
      null,
    ];
    for (const value of wrong) expect(parsePushAccountId(value)).toBeUndefined();
  });

  it('are rejected if they are numbers that a double may have rounded', () => {
    expect(parsePushAccountId(2 ** 53)).toBeUndefined();
    expect(parsePushAccountId(2 ** 53 - 1)).toBe(2n ** 53n - 1n);
  });

  it('are never negative if they are created from random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 8, maxLength: 8 }), (bytes) => {
        const id = pushAccountIdFromBytes(bytes);
        expect(id >= 0n && parsePushAccountId(id) === id).toBe(true);
      }),
    );
    expect(() => pushAccountIdFromBytes(new Uint8Array(7))).toThrow('at least 8 bytes');
  });
});

describe('JSON', () => {
  it('round-trips every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        // parseJson returns a bigint for an integer that a double may not represent exactly, unless it has an exponent.
        const isLong = (found: unknown) =>
          Number.isInteger(found) && !Number.isSafeInteger(found) && Math.abs(found as number) < 1e21;
        const expected = JSON.parse(text, (_name, found) => (isLong(found) ? BigInt(String(found)) : found));
        expect(parseJson(text)).toEqual(expected);
      }),
    );
  });

  it('is rejected by each parser unless it is a single JSON value', () => {
    for (const text of ['{', '[1] 2', '{"id":12345678901234567890', 'NaN', '']) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });

  it('keeps fractions unchanged beside long integers', () => {
    expect(parseJson('[1.5,12345678901234567890,1e3]')).toEqual([1.5, 12345678901234567890n, 1000]);
  });

  it('cannot change an object’s prototype', () => {
    const parsed = parseJson('{"__proto__":{"polluted":1},"id":12345678901234567890}') as object;
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.keys(parsed)).toContain('id');
  });
});

describe('a notify request', () => {
  const payload = { push_account_id: 2n ** 62n, encrypted_data: 'QUJD' };
  const realm_uuid = '9AA61D0B-8ce5-488d-8e9e-fedc346e6836';

  it('determines the vendor of an entry from its fields', () => {
    const parsed = relayNotifyRequest.parse({
      realm_uuid,
      push_requests: [
        { device_id: 1, fcm_priority: 'high', payload },
        {
          device_id: 2,
          http_headers: { apns_priority: 5, apns_push_type: 'background' },
          payload: { ...payload, aps: {} },
        },
      ],
    });
    expect(parsed.realm_uuid).toBe(realm_uuid.toLowerCase());
    expect(parsed.push_requests.map((request) => 'http_headers' in request)).toEqual([false, true]);
    expect(parsed.push_requests[0]?.payload).toMatchObject({ push_account_id: 2n ** 62n });
  });

  it('is rejected with the wrong field and the index of its entry', () => {
    const parsed = relayNotifyRequest.safeParse({
      realm_uuid,
      push_requests: [{ device_id: 1, fcm_priority: 'high', payload: { ...payload, encrypted_data: '?' } }],
    });
    expect(parsed.error?.issues[0]?.path).toEqual(['push_requests', 0, 'payload', 'encrypted_data']);
  });

  it.each([0, {}, { http_headers: {} }])('is checked only up to the first invalid entry (%j)', (item) => {
    const parsed = relayNotifyRequest.safeParse({ realm_uuid, push_requests: Array(500_000).fill(item) });
    expect(parsed.error?.issues).toHaveLength(1);
    expect(parsed.error?.issues[0]?.path.slice(0, 2)).toEqual(['push_requests', 0]);
  });
});

describe('a notification', () => {
  const test = {
    type: 'test',
    time: 1,
    realm_url: 'https://chat.example',
    realm_name: 'Example',
    user_id: 10,
  };
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  it('is parsed with any padding and unknown fields', () => {
    expect(parseNotification(bytes(`${JSON.stringify({ ...test, new_field: [] })}      `))).toEqual(test);
  });

  it('is rejected if its type is unknown, a field is missing, or the bytes are not JSON', () => {
    expect(parseNotification(bytes(JSON.stringify({ ...test, type: 'later' })))).toBeUndefined();
    expect(parseNotification(bytes('{"type":"test"}'))).toBeUndefined();
    expect(parseNotification(Uint8Array.of(0xff, 0x7b))).toBeUndefined();
  });
});
