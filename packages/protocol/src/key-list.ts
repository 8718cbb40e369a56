import { decodeBase64 } from './base64.js';
import { decodePublicKey } from './bouncer-key.js';
import { isJsonObject } from './json.js';

/** Path of the relay's operation that publishes the key list (docs/protocol.md#key-list). */
export const keyListPath = '/api/v1/remotes/push/e2ee/keys';
/** Path of the server's operation that forwards the key list unchanged, for phones that can reach only their server. */
export const bouncerKeysPath = '/api/v1/mobile_push/bouncer_keys';

/** A bouncer key in the list. `created_at` and `accepted_until` are Unix seconds. */
export interface ListedKey {
  readonly public_key: string;
  readonly state: 'primary' | 'accepted';
  readonly created_at: number;
  /** `null` for the primary key. */
  readonly accepted_until: number | null;
}

/** A signing key in the list. `endorsement` is the base64 signature of {@link signingKeyEndorsedBytes}. */
export interface ListedSigningKey {
  readonly public_key: string;
  readonly endorsement: string | null;
}

/**
 * The JSON document in `key_list` (docs/protocol.md#key-list). Lists one `primary` key and any `accepted` keys. Keys
 * are base64 of 32 bytes, endorsements base64 of 64 bytes; times are Unix seconds.
 */
export interface KeyListDocument {
  readonly version: 1;
  /**
   * Increases with every list. It is the current time in Unix milliseconds, or the previous sequence plus 1 if that is
   * greater.
   */
  readonly sequence: number;
  readonly issued_at: number;
  readonly expires_at: number;
  readonly keys: readonly ListedKey[];
  /** Compromised keys: bouncer keys, and signing keys that were replaced after a theft. */
  readonly revoked: readonly string[];
  /**
   * Signing keys, at least one, oldest first. Each key is endorsed by the previous key or by the recovery key. The
   * first key need not be endorsed.
   */
  readonly signing_keys: readonly ListedSigningKey[];
  /**
   * The recovery key, which can endorse a signing key after a theft. The list's signature covers it. A client without a
   * pinned recovery key keeps the first recovery key that it sees. Absent if the relay has no recovery key.
   */
  readonly recovery_public_key?: string;
}

/** Response of the relay's and the server's key list operations. `signing_public_key` is the last of `signing_keys`. */
export interface KeyListAnswer {
  readonly result: 'success';
  /** Base64 of the document's exact bytes. */
  readonly key_list: string;
  /** Base64 of the Ed25519 signature of {@link keyListSignedBytes}. */
  readonly signature: string;
  readonly signing_public_key: string;
}

/** Parses a key list response from JSON and drops unknown fields. Returns `undefined` if the response is invalid. */
export function parseKeyListAnswer(value: unknown): KeyListAnswer | undefined {
  if (!isJsonObject(value)) return undefined;
  const { result, key_list, signature, signing_public_key } = value;
  if (result !== 'success' || typeof key_list !== 'string') return undefined;
  if (!isSignature(signature) || !isPublicKey(signing_public_key)) return undefined;
  return { result, key_list, signature, signing_public_key };
}

/** Parses a key list document from JSON and drops unknown fields. Returns `undefined` if the document is invalid. */
export function parseKeyListDocument(value: unknown): KeyListDocument | undefined {
  if (!isJsonObject(value)) return undefined;
  const { version, sequence, issued_at, expires_at, revoked } = value;
  if (version !== 1 || !isCount(sequence) || !isCount(issued_at) || !isCount(expires_at)) return undefined;
  const keys = parseEach(value.keys, parseListedKey);
  if (keys?.filter(({ state }) => state === 'primary').length !== 1) return undefined;
  if (!Array.isArray(revoked) || !revoked.every(isPublicKey)) return undefined;
  const signing_keys = parseEach(value.signing_keys, parseListedSigningKey);
  if (signing_keys === undefined || signing_keys.length === 0) return undefined;
  const document = { version, sequence, issued_at, expires_at, keys, revoked, signing_keys } as const;
  const { recovery_public_key } = value;
  if (recovery_public_key === undefined) return document;
  return isPublicKey(recovery_public_key) ? { ...document, recovery_public_key } : undefined;
}

function parseListedKey(value: unknown): ListedKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { public_key, state, created_at, accepted_until } = value;
  if (state !== 'primary' && state !== 'accepted') return undefined;
  if (!isPublicKey(public_key) || !isCount(created_at)) return undefined;
  if (accepted_until !== null && !isCount(accepted_until)) return undefined;
  return { public_key, state, created_at, accepted_until };
}

function parseListedSigningKey(value: unknown): ListedSigningKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { public_key, endorsement } = value;
  if (!isPublicKey(public_key) || (endorsement !== null && !isSignature(endorsement))) return undefined;
  return { public_key, endorsement };
}

function parseEach<Item>(
  values: unknown,
  parse: (value: unknown) => Item | undefined,
): readonly Item[] | undefined {
  if (!Array.isArray(values)) return undefined;
  const items: Item[] = [];
  for (const value of values) {
    const item = parse(value);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function isPublicKey(value: unknown): value is string {
  return typeof value === 'string' && decodePublicKey(value) !== undefined;
}

function isSignature(value: unknown): value is string {
  return typeof value === 'string' && decodeBase64(value)?.length === 64;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Signature input for a key list (docs/protocol.md#signature-input): `waxwing key list v1`, a NUL byte, and the
 * document's exact bytes.
 */
export function keyListSignedBytes(document: Uint8Array): Uint8Array {
  return inDomain('waxwing key list v1', document);
}

/**
 * Signature input for the endorsement of a new signing key: `waxwing signing key v1`, a NUL byte, and the key's 32
 * bytes.
 */
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
