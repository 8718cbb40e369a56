import { z } from 'zod';
import { decodeBase64 } from './base64.js';
import { decodePublicKey } from './bouncer-key.js';

/** Path of the relay's operation that publishes the key list. */
export const keyListPath = '/api/v1/remotes/push/e2ee/keys';
/** Path of the server's operation that passes it on unchanged, for phones that reach only their server. */
export const bouncerKeysPath = '/api/v1/mobile_push/bouncer_keys';

const publicKey = z.string().refine((text) => decodePublicKey(text) !== undefined, 'must be 32 bytes');
const signature = z.string().refine((text) => decodeBase64(text)?.length === 64, 'must be 64 bytes');
const unixSeconds = z.number().int().nonnegative();

/** The JSON document in `key_list`. Only `primary` (exactly one) and `accepted` keys are listed. */
export const keyListDocument = z.object({
  version: z.literal(1),
  /** Grows with every list: the greater of the previous one plus 1 and Unix milliseconds. */
  sequence: z.number().int().nonnegative(),
  issued_at: unixSeconds,
  expires_at: unixSeconds,
  keys: z
    .array(
      z.object({
        public_key: publicKey,
        state: z.enum(['primary', 'accepted']),
        created_at: unixSeconds,
        /** Null for the primary. */
        accepted_until: unixSeconds.nullable(),
      }),
    )
    .refine((keys) => keys.filter(({ state }) => state === 'primary').length === 1, 'must hold one primary'),
  /** Keys whose private half somebody else may have: bouncer keys, and signing keys that were replaced after a theft. */
  revoked: z.array(publicKey),
  /** Oldest first; each is endorsed by the one before or by the recovery key, the first perhaps by none. */
  signing_keys: z
    .array(z.object({ public_key: publicKey, endorsement: signature.nullable() }))
    .nonempty('must hold the signing key'),
});
export type KeyListDocument = z.infer<typeof keyListDocument>;

/** What both operations answer. `signing_public_key` is the last of `signing_keys`. */
export const keyListAnswer = z.object({
  result: z.literal('success'),
  /** Base64 of the exact bytes of the document. */
  key_list: z.string(),
  /** Base64 of the Ed25519 signature of {@link keyListSignedBytes}. */
  signature,
  signing_public_key: publicKey,
});
export type KeyListAnswer = z.infer<typeof keyListAnswer>;

/** What is signed for a key list: `waxwing key list v1`, a zero byte, and the exact bytes of the document. */
export function keyListSignedBytes(document: Uint8Array): Uint8Array {
  return inDomain('waxwing key list v1', document);
}

/** What is signed to endorse a new signing key: `waxwing signing key v1`, a zero byte, and its 32 bytes. */
export function signingKeyEndorsedBytes(signingPublicKey: Uint8Array): Uint8Array {
  return inDomain('waxwing signing key v1', signingPublicKey);
}

function inDomain(domain: string, content: Uint8Array): Uint8Array {
  const name = new TextEncoder().encode(domain);
  const bytes = new Uint8Array(name.length + 1 + content.length);
  bytes.set(name);
  bytes.set(content, name.length + 1);
  return bytes;
}
