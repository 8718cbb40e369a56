import { decodeBase64, parseWithMessages } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { z } from 'zod';
import {
  type BouncerKey,
  type BouncerPublicKey,
  type KeyRing,
  keyId,
  type SigningKey,
  type SigningPublicKey,
  type TokenKey,
  tokenFormat,
} from '../ring/key-ring.js';
import type { VapidKey } from '../ring/vapid-key.js';
import { webPushAppName } from '../ring/web-push-app-name.js';
import { placeholderPattern, SecretWriter, takeSecrets } from './document-secrets.js';

/**
 * JSON schema of the decrypted key ring: one object, snake_case as in all external formats. Times are in Unix
 * milliseconds, keys in canonical base64.
 */

const instant = z.number().int().nonnegative();
const bytes = (length: number) =>
  z.string().refine((text) => decodeBase64(text)?.length === length, `must be ${length} bytes in base64`);
const bouncerPublicKey = bytes(32).transform((text) => text as BouncerPublicKey);
const signingPublicKey = bytes(32).transform((text) => text as SigningPublicKey);
// While the document is text, a placeholder stands for each private key.
const secret = (length: number) =>
  z.string().regex(placeholderPattern(length), `must be ${length} bytes in base64`);
const facts = { public_key: bouncerPublicKey, created_at: instant };

const bouncerKey = z.discriminatedUnion('state', [
  z.strictObject({ ...facts, state: z.literal('primary'), private_key: secret(32), primary_since: instant }),
  z.strictObject({
    ...facts,
    state: z.literal('accepted'),
    private_key: secret(32),
    accepted_since: instant,
    accepted_until: instant,
  }),
  z.strictObject({ ...facts, state: z.literal('retired'), retired_at: instant }),
  z.strictObject({ ...facts, state: z.literal('compromised'), revoked_at: instant }),
]);

const document = z.strictObject({
  version: z.literal(1),
  bouncer_keys: z.array(bouncerKey),
  signing_keys: z.array(
    z.strictObject({
      public_key: signingPublicKey,
      private_key: secret(64).nullable(),
      created_at: instant,
      endorsement: bytes(64).nullable(),
    }),
  ),
  revoked_signing_keys: z.array(signingPublicKey),
  recovery_public_key: signingPublicKey.nullable(),
  token_keys: z.array(
    z.strictObject({
      id: z.string().regex(/^[0-9a-f]{8}$/, 'must be 8 hexadecimal digits'),
      encryption_key: secret(32),
      lookup_key: secret(32),
      current_from: instant,
      oldest_form: z.literal(tokenFormat),
    }),
  ),
  // Optional, because relays without Web Push apps do not write VAPID keys.
  vapid_keys: z
    .array(
      z.strictObject({
        name: z.string().regex(webPushAppName, 'must be the name of a Web Push app'),
        public_key: z.string().regex(/^B[\w-]{86}$/, 'must be 65 bytes in base64url'),
        private_key: secret(32),
        created_at: instant,
      }),
    )
    .optional(),
  published: z
    .strictObject({
      sequence: instant,
      issued_at: instant,
      expires_at: instant,
      key_list: z.string(),
      signature: bytes(64),
      signing_public_key: signingPublicKey,
    })
    .nullable(),
});

type Document = z.infer<typeof document>;
type BouncerKeyDocument = Document['bouncer_keys'][number];

/** Encodes a ring as a UTF-8 document. The document contains private keys: encrypt it, then wipe it. */
export function encodeKeyRing(ring: KeyRing): Uint8Array {
  const { published } = ring;
  const secrets = new SecretWriter();
  const reveal = (key: Secret<Uint8Array>) => secrets.placeholder(key.reveal());
  const shape: Document = {
    version: 1,
    bouncer_keys: ring.bouncerKeys.map((key) => encodeBouncerKey(key, reveal)),
    signing_keys: ring.signingKeys.map((key) => ({
      public_key: key.publicKey,
      private_key: key.privateKey === undefined ? null : reveal(key.privateKey),
      created_at: key.createdAt,
      endorsement: key.endorsement ?? null,
    })),
    revoked_signing_keys: [...ring.revokedSigningKeys],
    recovery_public_key: ring.recoveryPublicKey ?? null,
    token_keys: ring.tokenKeys.map((key) => ({
      id: key.id,
      encryption_key: reveal(key.encryptionKey),
      lookup_key: reveal(key.lookupKey),
      current_from: key.currentFrom,
      oldest_form: tokenFormat,
    })),
    ...(ring.vapidKeys.length > 0 && {
      vapid_keys: ring.vapidKeys.map((key) => ({
        name: key.name,
        public_key: key.publicKey,
        private_key: reveal(key.privateKey),
        created_at: key.createdAt,
      })),
    }),
    published:
      published === undefined
        ? null
        : {
            sequence: published.sequence,
            issued_at: published.issuedAt,
            expires_at: published.expiresAt,
            key_list: published.keyList,
            signature: published.signature,
            signing_public_key: published.signingPublicKey,
          },
  };
  return secrets.write(`${JSON.stringify(shape)}\n`);
}

/**
 * Decodes a ring and checks only its structure; {@link checkKeyRing} checks the content. Overwrites the private keys in
 * `bytes`.
 * @throws Error with a phrase that names the invalid field without quoting the text.
 */
export function decodeKeyRing(bytes: Uint8Array): KeyRing {
  const secrets = takeSecrets(bytes);
  try {
    return decodeDocument(new TextDecoder().decode(bytes), (placeholder) => {
      const taken = secrets.get(placeholder);
      if (!secrets.delete(placeholder) || taken === undefined)
        throw new Error('a private key: not in its place');
      return new Secret(taken);
    });
  } finally {
    // Wipes the secrets of an invalid document. All secrets of a valid document now belong to the ring.
    for (const left of secrets.values()) left.fill(0);
  }
}

type Conceal = (placeholder: string) => Secret<Uint8Array>;

function decodeDocument(text: string, conceal: Conceal): KeyRing {
  const parsed = parseWithMessages(document, parseJsonObject(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'wrong format'}`);
  }
  const { published, ...shape } = parsed.data;
  return {
    bouncerKeys: shape.bouncer_keys.map((key) => decodeBouncerKey(key, conceal)),
    signingKeys: shape.signing_keys.map(
      (key): SigningKey => ({
        publicKey: key.public_key,
        privateKey: key.private_key === null ? undefined : conceal(key.private_key),
        createdAt: key.created_at,
        endorsement: key.endorsement ?? undefined,
      }),
    ),
    revokedSigningKeys: shape.revoked_signing_keys,
    recoveryPublicKey: shape.recovery_public_key ?? undefined,
    tokenKeys: shape.token_keys.map(
      (key): TokenKey => ({
        id: key.id,
        encryptionKey: conceal(key.encryption_key),
        lookupKey: conceal(key.lookup_key),
        currentFrom: key.current_from,
      }),
    ),
    vapidKeys: (shape.vapid_keys ?? []).map(
      (key): VapidKey => ({
        name: key.name,
        publicKey: key.public_key,
        privateKey: conceal(key.private_key),
        createdAt: key.created_at,
      }),
    ),
    published:
      published === null
        ? undefined
        : {
            sequence: published.sequence,
            issuedAt: published.issued_at,
            expiresAt: published.expires_at,
            keyList: published.key_list,
            signature: published.signature,
            signingPublicKey: published.signing_public_key,
          },
  };
}

function encodeBouncerKey(key: BouncerKey, reveal: (key: Secret<Uint8Array>) => string): BouncerKeyDocument {
  const facts = { public_key: key.publicKey, created_at: key.createdAt };
  switch (key.state) {
    case 'primary':
      return {
        ...facts,
        state: key.state,
        private_key: reveal(key.privateKey),
        primary_since: key.primarySince,
      };
    case 'accepted':
      return {
        ...facts,
        state: key.state,
        private_key: reveal(key.privateKey),
        accepted_since: key.acceptedSince,
        accepted_until: key.acceptedUntil,
      };
    case 'retired':
      return { ...facts, state: key.state, retired_at: key.retiredAt };
    case 'compromised':
      return { ...facts, state: key.state, revoked_at: key.revokedAt };
  }
}

function decodeBouncerKey(key: BouncerKeyDocument, conceal: Conceal): BouncerKey {
  const publicKey = key.public_key;
  const facts = { id: keyId(fromBase64(publicKey)), publicKey, createdAt: key.created_at };
  switch (key.state) {
    case 'primary':
      return {
        ...facts,
        state: key.state,
        privateKey: conceal(key.private_key),
        primarySince: key.primary_since,
      };
    case 'accepted':
      return {
        ...facts,
        state: key.state,
        privateKey: conceal(key.private_key),
        acceptedSince: key.accepted_since,
        acceptedUntil: key.accepted_until,
      };
    case 'retired':
      return { ...facts, state: key.state, retiredAt: key.retired_at };
    case 'compromised':
      return { ...facts, state: key.state, revokedAt: key.revoked_at };
  }
}

function parseJsonObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The JSON parser's own message quotes the text, which may contain a private key.
    throw new Error('the document: not JSON');
  }
}

function fromBase64(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}
