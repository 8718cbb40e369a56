import type { Clock } from '@waxwing/service/lifecycle';
import { SignJWT } from 'jose';
import type { TokenVault } from '../../../registrations/store/token-vault.js';
import type { RelayDatabase } from '../../../tables.js';
import type { ApnsApp } from './app.js';

export interface ProviderTokenOptions {
  readonly app: ApnsApp;
  readonly clock: Clock;
  readonly store: ProviderTokenStore;
}

const minute = 60_000;
// Apple requires a new token every 60 minutes, and refuses tokens that are renewed more than once per 20 minutes.
const renewAfterMilliseconds = 45 * minute;
const mintIntervalMilliseconds = 20 * minute;
const usableMilliseconds = 59 * minute;

/**
 * Provider token of one team's key. One process mints the token, and the others read it from the database.
 * https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
 */
export class ProviderToken {
  readonly #options: ProviderTokenOptions;
  #cached: CachedToken | undefined;
  #obtaining: Promise<CachedToken> | undefined;

  constructor(options: ProviderTokenOptions) {
    this.#options = options;
  }

  /** Returns the cached `authorization` header; `undefined` if {@link get} must be called. */
  peek(): string | undefined {
    return this.#cached !== undefined && this.#ageOf(this.#cached) < renewAfterMilliseconds
      ? this.#cached.authorization
      : undefined;
  }

  /** Returns the `authorization` header. Rejects if no usable token is cached and the database is unavailable. */
  async get(): Promise<string> {
    return this.peek() ?? (await this.#obtain(renewAfterMilliseconds)).authorization;
  }

  /** Replaces a token that Apple rejected as too old. Keeps the token if Apple does not allow a new one yet. */
  async renew(): Promise<void> {
    await this.#obtain(mintIntervalMilliseconds);
  }

  /** Earliest time to mint a new token, in Unix milliseconds. */
  get mintableAt(): number {
    return (this.#cached?.mintedAt ?? this.#options.clock()) + mintIntervalMilliseconds;
  }

  #obtain(maximumAgeMilliseconds: number): Promise<CachedToken> {
    this.#obtaining ??= this.#obtainOnce(maximumAgeMilliseconds).finally(() => {
      this.#obtaining = undefined;
    });
    return this.#obtaining;
  }

  async #obtainOnce(maximumAgeMilliseconds: number): Promise<CachedToken> {
    try {
      this.#cached = await this.#takeOrMint(maximumAgeMilliseconds);
    } catch (error) {
      // If the database is unavailable, the cached token is used for as long as Apple accepts it.
      if (this.#cached === undefined || this.#ageOf(this.#cached) >= usableMilliseconds) throw error;
    }
    return this.#cached;
  }

  async #takeOrMint(maximumAgeMilliseconds: number): Promise<CachedToken> {
    const { app, clock, store } = this.#options;
    const shared = await store.find(app.fingerprint);
    if (shared !== undefined && this.#ageOf(shared) < maximumAgeMilliseconds) return shared;
    const minted = await this.#mint(clock());
    return store.replace(app.fingerprint, minted, clock() - maximumAgeMilliseconds);
  }

  async #mint(now: number): Promise<CachedToken> {
    const { app } = this.#options;
    const issuedAt = Math.floor(now / 1000);
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: app.keyId })
      .setIssuer(app.teamId)
      .setIssuedAt(issuedAt)
      .sign(app.privateKey.reveal());
    return { authorization: `bearer ${token}`, mintedAt: now };
  }

  /**
   * Returns the age of a token in milliseconds. The age is infinite if the token is dated in the future, because the
   * clock then went backward. Tolerates small clock differences between processes.
   */
  #ageOf({ mintedAt }: CachedToken): number {
    const age = this.#options.clock() - mintedAt;
    return age < -clockDifferenceMilliseconds ? Number.POSITIVE_INFINITY : Math.max(0, age);
  }
}

/**
 * Tolerated clock difference between processes. A token that is dated in the future by at most this much stays in use.
 */
const clockDifferenceMilliseconds = 60_000;

interface CachedToken {
  /** Value of the `authorization` header. */
  readonly authorization: string;
  /** Unix milliseconds. */
  readonly mintedAt: number;
}

/** Sealed provider tokens in the database, shared by all processes of a relay. */
export class ProviderTokenStore {
  readonly #database: RelayDatabase;
  readonly #vault: TokenVault;

  constructor(database: RelayDatabase, vault: TokenVault) {
    this.#database = database;
    this.#vault = vault;
  }

  /**
   * Finds the token of a credential. Returns `undefined` if no token is stored, or if the stored token cannot be
   * decrypted. In the latter case, deletes the stored token.
   */
  async find(credential: string): Promise<CachedToken | undefined> {
    const row = await this.#database.db
      .selectFrom('provider_tokens')
      .selectAll()
      .where('credential', '=', credential)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const authorization = this.#vault.open(row.sealed_token, placeOf(credential));
    if (typeof authorization === 'string') return { authorization, mintedAt: row.minted_at };
    await this.#database.write(({ db }) =>
      db
        .deleteFrom('provider_tokens')
        .where('credential', '=', credential)
        .where('sealed_token', '=', row.sealed_token)
        .execute(),
    );
    return undefined;
  }

  /**
   * Stores `token`, unless the stored token was minted after `olderThan`. Returns the token to use: if several
   * processes mint at the same time, all use the first token. Also replaces a stored token that is dated in the future,
   * because the clock then went backward.
   */
  async replace(credential: string, token: CachedToken, olderThan: number): Promise<CachedToken> {
    const row = {
      credential,
      sealed_token: this.#vault.seal(token.authorization, placeOf(credential)),
      minted_at: token.mintedAt,
    };
    const stands = await this.#database.write(async ({ db }) => {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('provider_tokens')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column('credential')
            .doUpdateSet({ sealed_token: row.sealed_token, minted_at: row.minted_at })
            .where((is) =>
              is.or([
                is('provider_tokens.minted_at', '<=', olderThan),
                is('provider_tokens.minted_at', '>', token.mintedAt + clockDifferenceMilliseconds),
              ]),
            ),
        )
        .executeTakeFirstOrThrow();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    });
    return stands ? token : ((await this.find(credential)) ?? token);
  }
}

function placeOf(credential: string): string {
  return `provider token ${credential}`;
}
