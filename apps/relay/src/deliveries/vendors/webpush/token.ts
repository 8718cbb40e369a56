import type { Clock } from '@waxwing/service/lifecycle';
import { LRUCache } from 'lru-cache';
import type { VapidClaims, VapidSignature } from '../../../keyring/vapid/vapid-keys.js';
import type { WebPushApp } from './app.js';

/** Signer with the VAPID key pairs of apps; see `VapidKeys`. */
export interface VapidSigner {
  publicKeyOf(name: string): string | undefined;
  sign(name: string, claims: VapidClaims): VapidSignature | undefined;
}

export interface VapidTokenOptions {
  readonly app: Pick<WebPushApp, 'name' | 'contact'>;
  readonly signer: VapidSigner;
  readonly clock: Clock;
}

interface Held {
  readonly header: string;
  readonly renewAt: number;
}

const maximumOrigins = 1000;
/** Half of the 24 hours that RFC 8292 section 2 allows, as a margin for clock differences. */
const lifetimeMilliseconds = 12 * 60 * 60_000;

/** Creates and caches the `Authorization` header for each push service. Renews a header at half of its lifetime. */
export class VapidToken {
  readonly #options: VapidTokenOptions;
  readonly #held = new LRUCache<string, Held>({ max: maximumOrigins });

  constructor(options: VapidTokenOptions) {
    this.#options = options;
  }

  /**
   * Returns the header for an origin, such as `https://push.example`.
   * @throws Error if the key ring has no key pair for the app.
   */
  headerFor(origin: string): string {
    const { app, signer, clock } = this.#options;
    const now = clock();
    const held = this.#held.get(origin);
    if (held !== undefined && now < held.renewAt && held.renewAt - now <= lifetimeMilliseconds / 2) {
      return held.header;
    }
    const claims = { audience: origin, subject: app.contact, expiresAt: now + lifetimeMilliseconds };
    const signature = signer.sign(app.name, claims);
    if (signature === undefined) throw new Error(`the key ring has no VAPID key for ${app.name}`);
    const header = `vapid t=${signature.token}, k=${signature.publicKey}`;
    this.#held.set(origin, { header, renewAt: now + lifetimeMilliseconds / 2 });
    return header;
  }

  /** Clears the cache, so that the next requests get new tokens. */
  forgetAll(): void {
    this.#held.clear();
  }
}
