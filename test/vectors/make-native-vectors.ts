import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { publicKeyOf, seal, sealSecretBox } from '../support/noble-oracle.js';
import { relayProtocolVectors } from '../support/protocol-vectors.js';

/** A push, and the result that native code in an app must produce. */
export interface NativeVector {
  readonly name: string;
  /** The two fields as FCM and APNs deliver them, both as strings. The id can be from either generation. */
  readonly push: {
    readonly push_account_id?: string;
    readonly push_key_id?: string;
    readonly encrypted_data: string;
  };
  readonly expect:
    | {
        /** The decrypted bytes as text, without padding. */
        readonly plaintext: string;
        readonly type: 'message' | 'remove' | 'test' | 'payload';
      }
    | { readonly ignored: 'unknown-account' | 'cannot-open' | 'unknown-type' | 'wrong-account' }
    | { readonly ignored: 'not-encrypted-push' };
}

/** A message, and whether it is shown after the previous messages. */
interface SeenVector {
  readonly pushAccountId: string;
  readonly time: number;
  readonly messageId: number;
  readonly isNew: boolean;
}

/** `docs/examples/native/vectors.json`. */
export interface NativeVectors {
  readonly note: string;
  /** Outputs of `exportForExtension`. */
  readonly accounts: readonly string[];
  readonly pushes: readonly NativeVector[];
  /** Messages, and whether a phone shows them if it remembers `capacity` messages per account. */
  readonly seen: { readonly capacity: number; readonly messages: readonly SeenVector[] };
}

export const nativeVectorsPath = fileURLToPath(
  new URL('../../docs/examples/native/vectors.json', import.meta.url),
);

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const privateKey = new Uint8Array(32).fill(41);
const publicKey = publicKeyOf(privateKey);
const id = '9007199254740993';
const realm_url = 'https://chat.example.com:8443/';
const { gen11, ...newer } = relayProtocolVectors();
const gen11Id = '9223372036854775807';
const gen11Plaintext = JSON.parse(gen11.plaintext) as { realm_url: string; user_id: number };

const pushKey = new Uint8Array(32).fill(42);
const formerPushKey = new Uint8Array(32).fill(43);
const [pushKeyId, formerPushKeyId, newerKeyId] = ['4294967295', '0', '20'];
/** The key in the protocol's own vectors. On the wire, it is preceded by a byte that identifies the cipher. */
const newerKey = Buffer.from(newer.push_key, 'base64').subarray(1);

function account(fields: Record<string, unknown>): string {
  return JSON.stringify({ version: 1, ...fields });
}

const message = {
  type: 'message',
  realm_url,
  realm_name: 'Example',
  user_id: 10,
  message_id: 45,
  time: 1773200000,
  content: 'café ☕ — Grüße, 你好 😀',
  sender_id: 6,
  sender_full_name: 'Iago',
  sender_avatar_url: 'https://chat.example.com:8443/avatar/6',
  channel_id: 3,
  channel_name: 'Verona',
  topic: 'lunch',
};

const payload = {
  type: 'payload',
  realm_url,
  user_id: 10,
  id: '0d5b9d5e-6a5c-4f0e-9a39-3f0f0f8d9c51',
  time: 1773200000,
  payload: { title: 'Café', body: 'Table 4 is ready', table: 4 },
};

function push(plaintext: string, changes: Partial<NativeVector['push']> = {}): NativeVector['push'] {
  const sealed = seal(new TextEncoder().encode(plaintext), publicKey, new Uint8Array(32).fill(7));
  return { push_account_id: id, encrypted_data: base64(sealed), ...changes };
}

/** Returns the same push, encrypted with a push key. */
function keyPush(
  plaintext: string,
  changes: Partial<NativeVector['push']> = {},
  key = pushKey,
): NativeVector['push'] {
  const nonce = new Uint8Array(24).fill(9);
  const box = sealSecretBox(new TextEncoder().encode(plaintext), nonce, key);
  return { push_key_id: pushKeyId, encrypted_data: base64(Uint8Array.of(...nonce, ...box)), ...changes };
}

/** Returns pushes of the newer generation, including pushes that only this generation rejects. */
function keyPushes(): readonly NativeVector[] {
  const plaintext = JSON.stringify(message);
  const good = keyPush(plaintext);
  const bytes = Buffer.from(good.encrypted_data, 'base64');
  const altered = (at: number) => base64(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte)));
  const known: NativeVector['expect'] = { plaintext, type: 'message' };
  const test = newer.notifications.find(({ type }) => type === 'test');
  return [
    { name: 'a message with a push key', push: keyPush(`${plaintext}   `), expect: known },
    {
      name: 'a message with a superseded push key',
      push: keyPush(plaintext, { push_key_id: formerPushKeyId }, formerPushKey),
      expect: known,
    },
    {
      name: 'a message with a push key, whose base64 comes in lines',
      push: { ...good, encrypted_data: good.encrypted_data.replace(/.{76}/g, '$&\r\n') },
      expect: known,
    },
    {
      name: 'the notification with a push key of the protocol’s own vectors, made with another library',
      push: { push_key_id: newerKeyId, encrypted_data: test?.encrypted_data ?? '' },
      expect: { plaintext: test?.plaintext_utf8 ?? '', type: 'test' },
    },
    ignored('an unknown push key', 'unknown-account', { ...good, push_key_id: '7' }),
    ignored('another push key of the account', 'cannot-open', { ...good, push_key_id: formerPushKeyId }),
    ignored('a push key id beyond 32 bits', 'not-encrypted-push', { ...good, push_key_id: '4294967296' }),
    ignored('a negative push key id', 'not-encrypted-push', { ...good, push_key_id: '-1' }),
    ignored('a push key id with a leading zero', 'not-encrypted-push', { ...good, push_key_id: '00' }),
    ignored('a nonce with one bit changed', 'cannot-open', { ...good, encrypted_data: altered(0) }),
    ignored('a secret box with one bit changed', 'cannot-open', { ...good, encrypted_data: altered(60) }),
    ignored('a nonce without a box', 'cannot-open', {
      ...good,
      encrypted_data: base64(bytes.subarray(0, 24)),
    }),
    ignored('less than a nonce', 'cannot-open', { ...good, encrypted_data: 'QUJD' }),
    ignored(
      'another user, with a push key',
      'wrong-account',
      keyPush(JSON.stringify({ ...message, user_id: 11 })),
    ),
    ignored('no JSON, with a push key', 'unknown-type', keyPush('Hello')),
  ];
}

function opens(
  name: string,
  type: 'message' | 'remove' | 'test' | 'payload',
  content: object,
  padding = '',
): NativeVector {
  const plaintext = JSON.stringify(content);
  return { name, push: push(plaintext + padding), expect: { plaintext, type } };
}

type Ignored = Extract<NativeVector['expect'], { ignored: string }>['ignored'];

function ignored(name: string, reason: Ignored, received: NativeVector['push']): NativeVector {
  return { name, push: received, expect: { ignored: reason } };
}

const seen = (time: number, messageId: number, isNew: boolean, pushAccountId = id): SeenVector => ({
  pushAccountId,
  time,
  messageId,
  isNew,
});

const seenMessages: readonly SeenVector[] = [
  seen(100, 1, true),
  seen(100, 1, false),
  // A different organization, with the same id and time.
  seen(100, 1, true, gen11Id),
  // An id that a restored server reuses.
  seen(101, 1, true),
  // A message from a clock that is far ahead does not block later messages.
  seen(9_000_000_000, 2, true),
  seen(102, 3, true),
  seen(103, 4, true),
  // From here on, no message with a time up to 101 is shown, because messages of that age were evicted.
  seen(100, 1, false),
  seen(101, 1, false),
  seen(101, 5, false),
  // A message as old as a remembered message.
  seen(102, 6, true),
  seen(102, 3, false),
  seen(102, 7, false),
  seen(103, 4, false),
  seen(9_000_000_000, 2, false),
  seen(100, 1, false, gen11Id),
  seen(99, 1, true, gen11Id),
];

/** Generates all vectors, reproducibly. Uses only @noble, and states the expected result case by case. */
export function makeNativeVectors(): NativeVectors {
  const good = push(JSON.stringify(message));
  const sealed = Buffer.from(good.encrypted_data, 'base64');
  const altered = Uint8Array.from(sealed, (byte, index) => (index === 60 ? byte ^ 1 : byte));
  const other = (changes: object) => push(JSON.stringify({ ...message, ...changes }));
  return {
    note: 'What native code beside an app must open or refuse; see docs/react-native.md. These keys are public: use them in tests alone.',
    accounts: [
      account({
        pushAccountId: id,
        realmOrigin: 'https://chat.example.com:8443',
        userId: '10',
        publicKey: base64(publicKey),
        privateKey: base64(privateKey),
        pushKeys: [
          { pushKeyId: formerPushKeyId, key: base64(formerPushKey) },
          { pushKeyId, key: base64(pushKey) },
        ],
      }),
      account({
        pushAccountId: gen11Id,
        realmOrigin: gen11Plaintext.realm_url,
        userId: String(gen11Plaintext.user_id),
        publicKey: gen11.push_public_key,
        privateKey: gen11.client_private_key,
        pushKeys: [{ pushKeyId: newerKeyId, key: base64(newerKey) }],
      }),
    ],
    pushes: [
      opens('a message', 'message', message),
      opens('a message, padded with spaces', 'message', message, ' '.repeat(100)),
      {
        name: 'a message whose base64 comes in lines',
        push: { ...good, encrypted_data: good.encrypted_data.replace(/.{76}/g, '$&\r\n') },
        expect: { plaintext: JSON.stringify(message), type: 'message' },
      },
      opens('the removal of messages', 'remove', {
        type: 'remove',
        realm_url,
        user_id: 10,
        message_ids: [45, 46],
      }),
      opens('a payload', 'payload', payload),
      ignored(
        'a payload with an id that is too long',
        'unknown-type',
        other({ ...payload, id: 'a'.repeat(65) }),
      ),
      ignored('a payload that is no object', 'unknown-type', other({ ...payload, payload: [] })),
      opens('a test', 'test', { type: 'test', realm_url, user_id: 10, time: 1773200000 }),
      {
        name: 'the notification of the protocol’s own vectors, made with another library',
        push: { push_account_id: gen11Id, encrypted_data: gen11.encrypted_data },
        expect: { plaintext: gen11.plaintext, type: 'test' },
      },
      ignored('another account’s id', 'unknown-account', { ...good, push_account_id: '9007199254740992' }),
      ignored('an id that is no integer', 'not-encrypted-push', { ...good, push_account_id: '1e3' }),
      ignored('no base64', 'not-encrypted-push', { ...good, encrypted_data: 'a-_b' }),
      ignored('base64 without its padding', 'not-encrypted-push', { ...good, encrypted_data: 'QQ' }),
      ignored('a box that is too short', 'cannot-open', { ...good, encrypted_data: 'QUJD' }),
      ignored('a box with one bit changed', 'cannot-open', { ...good, encrypted_data: base64(altered) }),
      ignored('a box for another key', 'cannot-open', { ...good, encrypted_data: gen11.encrypted_data }),
      ignored('another organization', 'wrong-account', other({ realm_url: 'https://evil.example.com' })),
      ignored('another port', 'wrong-account', other({ realm_url: 'https://chat.example.com' })),
      ignored('another user', 'wrong-account', other({ user_id: 11 })),
      ignored('a type that is not known', 'unknown-type', other({ type: 'later' })),
      ignored('a message without its time', 'unknown-type', other({ time: undefined })),
      ignored('no JSON', 'unknown-type', push('Hello')),
      ...keyPushes(),
    ],
    seen: { capacity: 3, messages: seenMessages },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(nativeVectorsPath, `${JSON.stringify(makeNativeVectors(), undefined, 2)}\n`);
}
