import { sign } from 'node:crypto';
import { unixSeconds } from '@waxwing/service/lifecycle';
import type { KeyRing } from '../ring/key-ring.js';
import { newVapidKey, signingKeyOf, type VapidKey } from '../ring/vapid-key.js';

/** Signed claims for a push service (https://www.rfc-editor.org/rfc/rfc8292#section-2). */
export interface VapidClaims {
  /** Origin of the push service, such as `https://push.example`. */
  readonly audience: string;
  /** Contact of the operator: a `mailto:` or `https:` URL. */
  readonly subject: string;
  /** Unix milliseconds; at most 24 hours ahead. */
  readonly expiresAt: number;
}

/** A signed JSON Web Token, and the public key that verifies it, in base64url. */
export interface VapidSignature {
  readonly token: string;
  readonly publicKey: string;
}

/** The VAPID key pairs of a key ring. */
export class VapidKeys {
  readonly #ring: () => KeyRing;
  readonly #change: (transition: (ring: KeyRing) => KeyRing) => Promise<void>;

  constructor(
    ring: () => KeyRing,
    change: (transition: (ring: KeyRing) => KeyRing) => Promise<void> = async () => undefined,
  ) {
    this.#ring = ring;
    this.#change = change;
  }

  /**
   * Creates a key pair for each app in `names` that has none, in one change to the ring.
   * @returns the apps that got a key pair.
   */
  async ensure(names: readonly string[], now: number): Promise<readonly string[]> {
    const missing = [...new Set(names)].filter((name) => this.#find(name) === undefined);
    if (missing.length === 0) return [];
    await this.#change((ring) => addVapidKeys(ring, missing, now));
    return missing.filter((name) => this.#find(name) !== undefined);
  }

  /** Returns the public half of an app's key pair, in base64url; `undefined` if the app has no key pair. */
  publicKeyOf(name: string): string | undefined {
    return this.#find(name)?.publicKey;
  }

  /** Signs a token with an app's key pair (ES256). Returns `undefined` if the app has no key pair. */
  sign(name: string, { audience, subject, expiresAt }: VapidClaims): VapidSignature | undefined {
    const key = this.#find(name);
    if (key === undefined) return undefined;
    const claims = { aud: audience, exp: unixSeconds(expiresAt), sub: subject };
    const text = `${encode({ typ: 'JWT', alg: 'ES256' })}.${encode(claims)}`;
    // Not signed with jose: on Node 20, jose exports the private key as a string, which cannot be wiped, and caches it.
    const signature = sign('sha256', Buffer.from(text), {
      key: signingKeyOf(key),
      dsaEncoding: 'ieee-p1363',
    });
    return { token: `${text}.${signature.toString('base64url')}`, publicKey: key.publicKey };
  }

  #find(name: string): VapidKey | undefined {
    return this.#ring().vapidKeys.find((key) => key.name === name);
  }
}

/** Adds a key pair for each name that has no key pair. */
export function addVapidKeys(ring: KeyRing, names: readonly string[], now: number): KeyRing {
  const known = new Set(ring.vapidKeys.map(({ name }) => name));
  const missing = [...new Set(names)].filter((name) => !known.has(name));
  if (missing.length === 0) return ring;
  return { ...ring, vapidKeys: [...ring.vapidKeys, ...missing.map((name) => newVapidKey(name, now))] };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
