import { createHash } from 'node:crypto';
import { publicKeyOf, seal } from '../../support/noble-oracle.js';
import type { RegistrationVector, RegistrationVectorKey } from '../../support/protocol-vectors.js';

/** The time, in Unix seconds, at which every vector arrives at the relay. */
export const nowSeconds = 1_773_300_000;

export const fcmToken = 'fcm-token-1:APA91bExample_-';
const apnsToken = 'C0FFEE00C0FFEE00C0FFEE00C0FFEE00C0FFEE00C0FFEE00C0FFEE00C0FFEE00';
export const iosAppId = 'org.example.App';

/** Derives 32 bytes from the label, so that the vector file is reproducible. */
function bytesOf(label: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(`registration vectors: ${label}`).digest());
}

function keyOf(name: string, inKeyRing: boolean): RegistrationVectorKey {
  const privateKey = bytesOf(`${name} key`);
  return {
    name,
    public_key: base64(publicKeyOf(privateKey)),
    private_key: base64(privateKey),
    in_key_ring: inKeyRing,
  };
}

export const relayKey = keyOf('relay', true);
export const secondRelayKey = keyOf('second relay', true);
export const strangerKey = keyOf('stranger', false);

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

export function bytesOfBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** Seals a box to a key, with an ephemeral key derived from `name`. */
export function sealBytes(name: string, plaintext: Uint8Array, key = relayKey): Uint8Array {
  return seal(plaintext, bytesOfBase64(key.public_key), bytesOf(`ephemeral ${name}`));
}

/** Returns a registration without errors. */
export function fcmPlaintext(token = fcmToken): string {
  return JSON.stringify({ token_kind: 'fcm', token, timestamp: nowSeconds });
}

export function apnsPlaintext(token = apnsToken, appId: unknown = iosAppId): string {
  return JSON.stringify({ token_kind: 'apns', token, timestamp: nowSeconds, ios_app_id: appId });
}

type Expectation = RegistrationVector['expect'];
type Refusal = Extract<Expectation, { error: string }>['error'];

export function acceptedFcm(token = fcmToken): Expectation {
  return { ok: { token, token_kind: 'fcm', ios_app_id: null } };
}

export function acceptedApns(token = apnsToken, appId = iosAppId): Expectation {
  return { ok: { token, token_kind: 'apns', ios_app_id: appId } };
}

export function refused(error: Refusal = 'BAD_REQUEST'): Expectation {
  return { error };
}

/** Fields that differ from the default vector: a box that opens, sealed to the relay's key. */
export type VectorDetails = Partial<
  Pick<RegistrationVector, 'note' | 'bouncer_public_key' | 'box_opens' | 'age_seconds' | 'plaintext'>
>;

/** Returns a vector with this text on the wire. */
export function textVector(
  name: string,
  encrypted: string,
  expect: Expectation,
  details: VectorDetails = {},
): RegistrationVector {
  return {
    name,
    note: '',
    bouncer_public_key: relayKey.public_key,
    box_opens: true,
    ...details,
    encrypted_push_registration: encrypted,
    expect,
  };
}

const longestShownPlaintext = 400;

/** Returns a vector with a box that decrypts to `plaintext`. */
export function sealedVector(
  name: string,
  plaintext: string | Uint8Array,
  expect: Expectation,
  details: VectorDetails = {},
): RegistrationVector {
  const bytes = typeof plaintext === 'string' ? new TextEncoder().encode(plaintext) : plaintext;
  const shown =
    typeof plaintext === 'string' && plaintext.length <= longestShownPlaintext ? { plaintext } : {};
  return textVector(name, base64(sealBytes(name, bytes)), expect, { ...shown, ...details });
}
