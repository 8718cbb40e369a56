import { type KeyObject, verify } from 'node:crypto';
import { decodeJsonWebToken } from '../json-web-token.js';
import { type Refusal, refuse } from './refusal.js';

const maximumAgeSeconds = 3600;
const toleratedSkewSeconds = 300;
const maximumRemembered = 1000;

export interface ProviderTokensOptions {
  readonly teamId: string;
  readonly keyId: string;
  readonly publicKey: KeyObject;
  readonly clock: () => number;
  /** Returns the minimum interval between new tokens, or `undefined` for no minimum. Called for each new token. */
  mintIntervalSeconds(): number | undefined;
}

interface AcceptedToken {
  readonly authorization: string;
  readonly issuedAtSeconds: number;
}

/**
 * Verifies provider tokens as Apple specifies: the ES256 signature, the key id, the team id, and an age of at most one
 * hour.
 * https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
 */
export class ProviderTokens {
  readonly #options: ProviderTokensOptions;
  readonly #accepted = new Map<string, AcceptedToken>();
  #acceptedCount = 0;
  #lastNewTokenAtMilliseconds: number | undefined;

  constructor(options: ProviderTokensOptions) {
    this.#options = options;
  }

  /** Number of distinct tokens that were accepted. */
  get acceptedCount(): number {
    return this.#acceptedCount;
  }

  /**
   * Checks an `authorization` header. If the token was accepted before, checks only its age.
   * @returns the refusal, or the stored copy of the header, which all requests with that header share.
   */
  check(authorization: string | undefined): Refusal | string {
    if (authorization === undefined)
      return refuse('MissingProviderToken', 'there is no authorization header');
    const known = this.#accepted.get(authorization);
    if (known) return this.#checkAge(known.issuedAtSeconds) ?? known.authorization;
    const issuedAtSeconds = this.#verify(authorization);
    if (typeof issuedAtSeconds !== 'number') return issuedAtSeconds;
    const refusal = this.#checkAge(issuedAtSeconds) ?? this.#checkMintInterval();
    if (refusal) return refusal;
    this.#remember({ authorization, issuedAtSeconds });
    return authorization;
  }

  /** Verifies a token. Returns its `iat` claim, or the refusal. */
  #verify(authorization: string): Refusal | number {
    const { teamId, keyId, publicKey } = this.#options;
    const [, text] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    if (text === undefined) {
      return refuse('MissingProviderToken', 'the authorization header is not "bearer" and a token');
    }
    const token = decodeJsonWebToken(text);
    if (!token) return refuse('InvalidProviderToken', 'the provider token is not a JSON Web Token');
    const { header, claims, signedText, signature } = token;
    if (header.alg !== 'ES256') {
      return refuse('InvalidProviderToken', `the token's alg is ${shown(header.alg)}, not "ES256"`);
    }
    if (header.kid !== keyId) {
      return refuse('InvalidProviderToken', `the token's kid is ${shown(header.kid)}, not "${keyId}"`);
    }
    if (claims.iss !== teamId) {
      return refuse('InvalidProviderToken', `the token's iss is ${shown(claims.iss)}, not "${teamId}"`);
    }
    if (!Number.isSafeInteger(claims.iat)) {
      return refuse('InvalidProviderToken', `the token's iat is ${shown(claims.iat)}, not Unix seconds`);
    }
    if (
      !verify('sha256', Buffer.from(signedText), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)
    ) {
      return refuse('InvalidProviderToken', "the token's signature does not match the key");
    }
    return claims.iat as number;
  }

  #checkAge(issuedAtSeconds: number): Refusal | undefined {
    const ageSeconds = Math.floor(this.#options.clock() / 1000) - issuedAtSeconds;
    if (ageSeconds > maximumAgeSeconds) {
      return refuse('ExpiredProviderToken', `the provider token is ${ageSeconds} s old, more than an hour`);
    }
    if (ageSeconds < -toleratedSkewSeconds) {
      return refuse('InvalidProviderToken', `the token's iat is ${-ageSeconds} s in the future`);
    }
    return undefined;
  }

  #checkMintInterval(): Refusal | undefined {
    const intervalSeconds = this.#options.mintIntervalSeconds();
    if (intervalSeconds === undefined || this.#lastNewTokenAtMilliseconds === undefined) return undefined;
    const elapsedSeconds = (this.#options.clock() - this.#lastNewTokenAtMilliseconds) / 1000;
    if (elapsedSeconds >= intervalSeconds) return undefined;
    return refuse(
      'TooManyProviderTokenUpdates',
      `a new provider token arrived ${Math.floor(elapsedSeconds)} s after the last one, less than ${intervalSeconds} s`,
    );
  }

  #remember(token: AcceptedToken): void {
    this.#acceptedCount += 1;
    this.#lastNewTokenAtMilliseconds = this.#options.clock();
    this.#accepted.set(token.authorization, token);
    if (this.#accepted.size <= maximumRemembered) return;
    const [oldest] = this.#accepted.keys();
    if (oldest !== undefined) this.#accepted.delete(oldest);
  }
}

function shown(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value).slice(0, 80);
}
