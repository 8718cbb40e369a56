import {
  encodeBase64,
  type JsonValue,
  parseJson,
  parseKeyListAnswer,
  parseKeyListDocument,
  parseNotification,
  parsePushDeviceEvent,
  parsePushDevices,
  parsePushRegistration,
  stringifyJson,
} from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import * as zod from './zod-shapes.js';

const base64Of = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(encodeBase64);
const key = base64Of(32);
const signature = base64Of(64);
const id = fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
const count = fc.maxSafeNat();
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const uuid = fc.uuid().chain((lower) => fc.constantFrom(lower, lower.toUpperCase()));
const status = fc.constantFrom('pending', 'active', 'failed');

const everyNotification = { realm_url: text, realm_name: text, user_id: id };
const everyRequired = ['type', 'realm_url', 'user_id'] as const;
const notification = fc.oneof(
  fc.record(
    {
      ...everyNotification,
      type: fc.constant('message'),
      message_id: id,
      time: count,
      content: text,
      sender_id: id,
      sender_full_name: text,
      sender_avatar_url: text,
      channel_id: id,
      channel_name: text,
      topic: text,
      recipient_user_ids: fc.array(id, { maxLength: 4 }),
      mentioned_user_group_id: id,
      mentioned_user_group_name: text,
    },
    {
      requiredKeys: [
        ...everyRequired,
        'message_id',
        'time',
        'content',
        'sender_id',
        'sender_full_name',
        'sender_avatar_url',
      ],
    },
  ),
  fc.record(
    { ...everyNotification, type: fc.constant('remove'), message_ids: fc.array(id, { maxLength: 4 }) },
    { requiredKeys: [...everyRequired, 'message_ids'] },
  ),
  fc.record(
    { ...everyNotification, type: fc.constant('test'), time: count },
    { requiredKeys: [...everyRequired, 'time'] },
  ),
);

const listedKey = (state: string) =>
  fc.record({
    public_key: key,
    state: fc.constant(state),
    created_at: count,
    accepted_until: fc.option(count),
  });
const acceptedKeys = fc.array(listedKey('accepted'), { maxLength: 2 });
const primaryKeys = fc.array(listedKey('primary'), { minLength: 1, maxLength: 2 });
const signingKey = fc.record({ public_key: key, endorsement: fc.option(signature) });
const keyListDocument = fc.record({
  version: fc.constant(1),
  sequence: count,
  issued_at: count,
  expires_at: count,
  keys: fc.tuple(acceptedKeys, primaryKeys).map((keys) => keys.flat()),
  revoked: fc.array(key, { maxLength: 2 }),
  signing_keys: fc.array(signingKey, { minLength: 1, maxLength: 3 }),
});
const keyListAnswer = fc.record({
  result: fc.constant('success'),
  key_list: text,
  signature,
  signing_public_key: key,
});

const registration = fc.record(
  {
    token: fc.oneof(text, fc.stringMatching(/^ ?([0-9a-fA-F]{2} ?){1,8}$/)),
    token_kind: fc.constantFrom('fcm', 'apns', 'apns'),
    timestamp: fc.oneof(count, fc.boolean(), fc.stringMatching(/^[ \t]?[+-]?\d{1,12}(\.0{0,2})?\n?$/)),
    ios_app_id: fc.option(fc.stringMatching(/^[.a-zA-Z0-9-]{1,20}$/)),
    apns_environment: fc.constantFrom('production', 'sandbox', null),
    audience: fc.option(uuid),
    push_account_id: fc.option(fc.oneof(id.map(String), fc.maxSafeNat())),
    sequence: fc.option(count),
  },
  { requiredKeys: ['token', 'token_kind', 'timestamp'] },
);

const pushDevices = fc.dictionary(
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String),
  fc.record({ status, error_code: fc.option(text) }),
  { maxKeys: 3 },
);
const pushDeviceEvent = fc.record(
  {
    type: fc.constant('push_device'),
    push_account_id: fc.oneof(id, id.map(String)),
    status,
    error_code: text,
  },
  { requiredKeys: ['type', 'push_account_id', 'status'] },
);

/** Edge-case values, at the limits of fields. */
const awkward: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e300,
    2 ** 53,
    '',
    '1',
    '\ud800',
    'a\0b',
    [],
    {},
  ),
  fc.constantFrom<JsonValue>('x'.repeat(255), 'x'.repeat(256), 'a'.repeat(4096), '😀'.repeat(4096), '00'),
  fc.constantFrom<JsonValue>('a'.repeat(4097), '😀'.repeat(4097), 'QQ==', 'QR==', '0x10', ' 12 ', '-5.0'),
  fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }),
  fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<JsonValue>,
);

/** Returns the value with one part changed, removed or added. */
function mutate(value: JsonValue, path: readonly number[], change: JsonValue | undefined): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return change ?? null;
  if (Array.isArray(value)) {
    const at = step % (value.length + 1);
    const after = value.slice(at + 1);
    if (at === value.length || change === undefined) return [...value.slice(0, at), ...after];
    return [...value.slice(0, at), mutate(value[at], rest, change), ...after];
  }
  const names = [...Object.keys(value), 'unknown_field'];
  const name = names[step % names.length] as string;
  const { [name]: inner, ...others } = value as Record<string, JsonValue>;
  if (change === undefined && rest.length === 0) return others;
  return { ...others, [name]: mutate(inner ?? null, rest, change) };
}

/** Valid values, valid values with up to three mutations, and unrelated values. */
function wireValues(valid: fc.Arbitrary<unknown>): fc.Arbitrary<JsonValue> {
  const mutation = fc.tuple(
    fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 3 }),
    fc.option(awkward, { nil: undefined }),
  );
  const mutated = fc
    .tuple(valid as fc.Arbitrary<JsonValue>, fc.array(mutation, { maxLength: 3 }))
    .map(([value, mutations]) =>
      mutations.reduce((current, [path, change]) => mutate(current, path, change), value),
    );
  return fc.oneof({ weight: 9, arbitrary: mutated }, { weight: 1, arbitrary: awkward });
}

const bytesOf = (value: JsonValue): Uint8Array => new TextEncoder().encode(stringifyJson(value));
/** Returns the value as received: with plain prototypes, and with bigints where parsing returns them. */
const overTheWire = (value: JsonValue): JsonValue => parseJson(stringifyJson(value));

describe.each([
  [
    'notification',
    notification,
    (v: JsonValue) => parseNotification(bytesOf(v)),
    byteOracle(zod.parseNotificationByZod),
  ],
  [
    'registration',
    registration,
    (v: JsonValue) => parsePushRegistration(bytesOf(v)),
    byteOracle(zod.parsePushRegistrationByZod),
  ],
  [
    'key list',
    keyListDocument,
    parseKeyListDocument,
    (v: JsonValue) => zod.keyListDocument.safeParse(v).data,
  ],
  [
    'key list response',
    keyListAnswer,
    parseKeyListAnswer,
    (v: JsonValue) => zod.keyListAnswer.safeParse(v).data,
  ],
  [
    'table of push devices',
    pushDevices,
    parsePushDevices,
    (v: JsonValue) => zod.pushDevices.safeParse(v).data,
  ],
  [
    'push device event',
    pushDeviceEvent,
    parsePushDeviceEvent,
    (v: JsonValue) => zod.pushDeviceEvent.safeParse(v).data,
  ],
] as const)('The hand-written check of a %s', (_name, valid, parse, oracle) => {
  it('accepts and rejects the same values as the zod shape, with the same result', () => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(wireValues(valid), (value) => {
        const sent = overTheWire(value);
        const expected = oracle(sent);
        seen[expected === undefined ? 'refused' : 'taken'] += 1;
        expect(parse(sent)).toStrictEqual(expected);
      }),
      { numRuns: 2000 },
    );
    // Both outcomes must occur often enough for a meaningful comparison.
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(200);
  });
});

function byteOracle(parse: (bytes: Uint8Array) => unknown): (value: JsonValue) => unknown {
  return (value) => parse(bytesOf(value));
}

describe('Bytes that are not JSON or not UTF-8', () => {
  it('are rejected as a notification and as a registration, as by zod', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(parseNotification(bytes)).toStrictEqual(zod.parseNotificationByZod(bytes));
        expect(parsePushRegistration(bytes)).toStrictEqual(zod.parsePushRegistrationByZod(bytes));
      }),
    );
  });
});
