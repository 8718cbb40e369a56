import type { Clock } from '@waxwing/service/lifecycle';
import { SignJWT } from 'jose';
import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import type { ReachLog } from '../reach-log.js';
import type { VendorAnswer } from '../vendor-sender.js';
import type { FcmApp } from './app.js';
import { readBody } from './read-refusal.js';

export type AccessTokenResult =
  | { readonly kind: 'token'; readonly accessToken: string }
  | { readonly kind: 'failed'; readonly answer: Exclude<VendorAnswer, { kind: 'accepted' }> };

export interface AccessTokenOptions {
  readonly app: FcmApp;
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  readonly reach: ReachLog;
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
const assertionLifetimeSeconds = 3600;
const refreshEarlyMilliseconds = 5 * 60_000;
/** Delay before the next attempt after a failed refresh, while the cached token is still valid. */
const refreshAgainMilliseconds = 10_000;
const timeoutMilliseconds = 10_000;
/**
 * Error codes of a refused, closed or reset connection. Timeouts are excluded, because a second request would take too
 * long.
 */
const brokenConnection: ReadonlySet<unknown> = new Set([
  'UND_ERR_SOCKET',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
]);

const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/** A token with its times in Unix milliseconds. */
interface CachedToken {
  readonly accessToken: string;
  readonly refreshAt: number;
  readonly endsAt: number;
}

/**
 * OAuth access token of a service account. Single-flight: concurrent callers share one request. Refreshes the token
 * five minutes before it expires.
 * https://developers.google.com/identity/protocols/oauth2/service-account
 */
export class AccessToken {
  readonly #options: AccessTokenOptions;
  #current: CachedToken | undefined;
  #asking: Promise<AccessTokenResult> | undefined;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  /** Returns the cached token; `undefined` if {@link get} must be called. */
  peek(): string | undefined {
    const current = this.#current;
    return current !== undefined && this.#options.clock() < current.refreshAt
      ? current.accessToken
      : undefined;
  }

  /** Returns the token. Waits for Google only if no valid token is cached; otherwise refreshes in the background. */
  async get(): Promise<AccessTokenResult> {
    const held = this.#current;
    const accessToken = this.peek();
    if (accessToken !== undefined) return { kind: 'token', accessToken };
    this.#asking ??= this.#refresh().finally(() => {
      this.#asking = undefined;
    });
    if (held !== undefined && this.#options.clock() < held.endsAt) {
      return { kind: 'token', accessToken: held.accessToken };
    }
    return this.#asking;
  }

  /** Evicts a refused token, unless a newer token has already replaced it. */
  forget(refused: string): void {
    if (this.#current?.accessToken === refused) this.#current = undefined;
  }

  /** Refreshes the token. If that fails, the cached token stays in use until it expires. */
  async #refresh(): Promise<AccessTokenResult> {
    const result = await this.#ask();
    const current = this.#current;
    if (result.kind === 'token' || current === undefined) return result;
    const now = this.#options.clock();
    if (now >= current.endsAt) return result;
    this.#current = { ...current, refreshAt: Math.min(current.endsAt, now + refreshAgainMilliseconds) };
    return { kind: 'token', accessToken: current.accessToken };
  }

  async #ask(): Promise<AccessTokenResult> {
    const { clock, reach } = this.#options;
    try {
      const { statusCode, headers, text } = await this.#exchange();
      const parsed = tokenAnswer.safeParse(statusCode === 200 ? JSON.parse(text) : undefined);
      reach.worked();
      if (!parsed.success) return refused(statusCode, headers['retry-after']);
      const lifetimeMilliseconds = parsed.data.expires_in * 1000;
      const early = Math.min(refreshEarlyMilliseconds, lifetimeMilliseconds / 2);
      const endsAt = clock() + lifetimeMilliseconds;
      this.#current = { accessToken: parsed.data.access_token, refreshAt: endsAt - early, endsAt };
      return { kind: 'token', accessToken: parsed.data.access_token };
    } catch (error) {
      // A failed connection, a timeout or a malformed response does not mean that the service account is invalid.
      reach.failed(error);
      return refused(503, undefined);
    }
  }

  /**
   * Sends the request. If the connection fails, immediately sends it once more: a second token is harmless, and a
   * notification with a TTL of 0 cannot be queued.
   */
  async #exchange() {
    const { app } = this.#options;
    const grant = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: await this.#signAssertion(),
    });
    const send = async () => {
      const { statusCode, headers, body } = await request(app.tokenUri, {
        method: 'POST',
        dispatcher: this.#options.dispatcher,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: grant.toString(),
        headersTimeout: timeoutMilliseconds,
        bodyTimeout: timeoutMilliseconds,
        // Close the connection after the response: it would be stale when the next request is due, in about an hour.
        reset: true,
      });
      return { statusCode, headers, text: await readBody(body) };
    };
    try {
      return await send();
    } catch (error) {
      if (brokenConnection.has((error as NodeJS.ErrnoException).code)) return await send();
      throw error;
    }
  }

  #signAssertion(): Promise<string> {
    const { app, clock } = this.#options;
    const issuedAt = Math.floor(clock() / 1000);
    return new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: app.privateKeyId })
      .setIssuer(app.clientEmail)
      .setAudience(app.tokenUri)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + assertionLifetimeSeconds)
      .sign(app.privateKey.reveal());
  }
}

function refused(httpStatus: number, retryAfter: string | string[] | undefined): AccessTokenResult {
  const mayPass = httpStatus === 429 || httpStatus >= 500 || httpStatus < 400;
  const reason = mayPass ? 'OAUTH_UNAVAILABLE' : 'OAUTH_REFUSED';
  const header = typeof retryAfter === 'string' ? retryAfter : undefined;
  return { kind: 'failed', answer: { kind: 'refused', httpStatus, reason, retryAfter: header } };
}
