import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { Secret } from '@waxwing/service/config';

/**
 * The key pair that identifies the relay to push services for one Web Push app (RFC 8292). It is never rotated, because
 * browsers' subscriptions are bound to it.
 */
export interface VapidKey {
  /** The app's name in the apps file. */
  readonly name: string;
  /** 65 bytes, an uncompressed point of P-256, in base64url: the `applicationServerKey` of the app. */
  readonly publicKey: string;
  /** The private scalar, 32 bytes, big-endian. */
  readonly privateKey: Secret<Uint8Array>;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

const curve = 'prime256v1';
const scalarBytes = 32;

/** Generates a key pair. `createdAt` is in Unix milliseconds. */
export function newVapidKey(name: string, createdAt: number): VapidKey {
  const pair = createECDH(curve);
  const publicKey = pair.generateKeys('base64url');
  const scalar = pair.getPrivateKey();
  const privateKey = new Uint8Array(scalarBytes);
  // Padded on the left, because OpenSSL omits leading zeros.
  privateKey.set(scalar, scalarBytes - scalar.length);
  scalar.fill(0);
  return { name, publicKey, privateKey: new Secret(privateKey), createdAt };
}

/** Whether the public half belongs to the private half. */
export function isVapidPair({ publicKey, privateKey }: VapidKey): boolean {
  const pair = createECDH(curve);
  try {
    pair.setPrivateKey(privateKey.reveal());
  } catch {
    // The scalar is out of range: zero, or not below the order of the curve.
    return false;
  }
  return pair.getPublicKey('base64url') === publicKey;
}

// The fixed bytes before the scalar and before the point, in a PKCS #8 key (RFC 5958) with a P-256 ECPrivateKey (RFC
// 5915).
const beforeScalar = Buffer.from(
  '308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420',
  'hex',
);
const beforePoint = Buffer.from('a144034200', 'hex');

/** Returns the private key as a `node:crypto` key object, without copying the key into a string. */
export function signingKeyOf({ publicKey, privateKey }: VapidKey): KeyObject {
  const point = Buffer.from(publicKey, 'base64url');
  const der = Buffer.concat([beforeScalar, privateKey.reveal(), beforePoint, point]);
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } finally {
    der.fill(0);
  }
}
