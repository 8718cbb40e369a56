import type { Clock } from '@waxwing/service';
import { SignJWT } from 'jose';
import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import type { FcmApp } from '../apps/app-set.js';
import type { VendorAnswer } from '../vendor-answer.js';

export type AccessTokenResult =
  | { readonly kind: 'token'; readonly accessToken: string }
  | { readonly kind: 'failed'; readonly answer: Exclude<VendorAnswer, { kind: 'accepted' }> };

export interface AccessTokenOptions {
  readonly app: FcmApp;
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
const assertionLifetimeSeconds = 3600;
const refreshEarlyMilliseconds = 5 * 60_000;
const timeoutMilliseconds = 10_000;

const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/**
 * A service account's access token: asked for once however many need it, kept until five minutes before it ends.
 * https://developers.google.com/identity/protocols/oauth2/service-account
 */
export class AccessToken {
  readonly #options: AccessTokenOptions;
  #current: { readonly accessToken: string; readonly refreshAt: number } | undefined;
  #asking: Promise<AccessTokenResult> | undefined;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  /** The token in force, without waiting; `undefined` when {@link get} has to be asked. */
  peek(): string | undefined {
    const current = this.#current;
    return current !== undefined && this.#options.clock() < current.refreshAt
      ? current.accessToken
      : undefined;
  }

  async get(): Promise<AccessTokenResult> {
    const accessToken = this.peek();
    if (accessToken !== undefined) return { kind: 'token', accessToken };
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Forgets a token that was refused, unless a newer one has come since. */
  forget(refused: string): void {
    if (this.#current?.accessToken === refused) this.#current = undefined;
  }

  async #ask(): Promise<AccessTokenResult> {
    const { app, clock, dispatcher } = this.#options;
    const grant = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: await this.#signAssertion(),
    });
    try {
      const { statusCode, headers, body } = await request(app.tokenUri, {
        method: 'POST',
        dispatcher,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: grant.toString(),
        headersTimeout: timeoutMilliseconds,
        bodyTimeout: timeoutMilliseconds,
      });
      const text = await body.text();
      const parsed = tokenAnswer.safeParse(statusCode === 200 ? JSON.parse(text) : undefined);
      if (!parsed.success) return refused(statusCode, headers['retry-after']);
      const lifetimeMilliseconds = parsed.data.expires_in * 1000;
      const early = Math.min(refreshEarlyMilliseconds, lifetimeMilliseconds / 2);
      this.#current = {
        accessToken: parsed.data.access_token,
        refreshAt: clock() + lifetimeMilliseconds - early,
      };
      return { kind: 'token', accessToken: parsed.data.access_token };
    } catch {
      // No connection, a timeout, or an answer that is not Google's: nothing that says that the account is wrong.
      return refused(503, undefined);
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
  const isTemporary = httpStatus === 429 || httpStatus >= 500 || httpStatus < 400;
  const reason = isTemporary ? 'OAUTH_UNAVAILABLE' : 'OAUTH_REFUSED';
  const header = typeof retryAfter === 'string' ? retryAfter : undefined;
  return { kind: 'failed', answer: { kind: 'refused', httpStatus, reason, retryAfter: header } };
}
