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
// Apple: a new one at least every 60 minutes and at most every 20.
const renewAfterMilliseconds = 45 * minute;
const mintIntervalMilliseconds = 20 * minute;
const usableMilliseconds = 59 * minute;

/**
 * The provider token of one team's key, minted by whichever process comes first and shared with the others.
 * https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
 */
export class ProviderToken {
  readonly #options: ProviderTokenOptions;
  #held: HeldProviderToken | undefined;
  #obtaining: Promise<HeldProviderToken> | undefined;

  constructor(options: ProviderTokenOptions) {
    this.#options = options;
  }

  /** The `authorization` header, without waiting; `undefined` when {@link get} has to be asked. */
  peek(): string | undefined {
    return this.#held !== undefined && this.#ageOf(this.#held) < renewAfterMilliseconds
      ? this.#held.authorization
      : undefined;
  }

  /** The `authorization` header. Rejects when the database cannot be used and no token is left. */
  async get(): Promise<string> {
    return this.peek() ?? (await this.#obtain(renewAfterMilliseconds)).authorization;
  }

  /** Takes or mints a newer token after Apple called this one too old; keeps it when it is too young to be replaced. */
  async renew(): Promise<void> {
    await this.#obtain(mintIntervalMilliseconds);
  }

  /** From when on a new token may be minted, in Unix milliseconds. */
  get mintableAt(): number {
    return (this.#held?.mintedAt ?? this.#options.clock()) + mintIntervalMilliseconds;
  }

  #obtain(maximumAgeMilliseconds: number): Promise<HeldProviderToken> {
    this.#obtaining ??= this.#obtainOnce(maximumAgeMilliseconds).finally(() => {
      this.#obtaining = undefined;
    });
    return this.#obtaining;
  }

  async #obtainOnce(maximumAgeMilliseconds: number): Promise<HeldProviderToken> {
    try {
      this.#held = await this.#takeOrMint(maximumAgeMilliseconds);
    } catch (error) {
      // The database is away: the token in hand is good for as long as Apple takes it.
      if (this.#held === undefined || this.#ageOf(this.#held) >= usableMilliseconds) throw error;
    }
    return this.#held;
  }

  async #takeOrMint(maximumAgeMilliseconds: number): Promise<HeldProviderToken> {
    const { app, clock, store } = this.#options;
    const shared = await store.find(app.fingerprint);
    if (shared !== undefined && this.#ageOf(shared) < maximumAgeMilliseconds) return shared;
    const minted = await this.#mint(clock());
    return store.replace(app.fingerprint, minted, clock() - maximumAgeMilliseconds);
  }

  async #mint(now: number): Promise<HeldProviderToken> {
    const { app } = this.#options;
    const issuedAt = Math.floor(now / 1000);
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: app.keyId })
      .setIssuer(app.teamId)
      .setIssuedAt(issuedAt)
      .sign(app.privateKey.reveal());
    return { authorization: `bearer ${token}`, mintedAt: now };
  }

  /** A token from the future, by a clock that was set back since, counts as too old; another process's clock may differ. */
  #ageOf({ mintedAt }: HeldProviderToken): number {
    const age = this.#options.clock() - mintedAt;
    return age < -clockDifferenceMilliseconds ? Number.POSITIVE_INFINITY : Math.max(0, age);
  }
}

/** How far apart the clocks of two processes may be: a token that much newer than now is not from the future. */
const clockDifferenceMilliseconds = 60_000;

interface HeldProviderToken {
  /** The `authorization` header. */
  readonly authorization: string;
  /** Unix milliseconds. */
  readonly mintedAt: number;
}

/** Provider tokens where all processes of a relay find them, sealed. */
export class ProviderTokenStore {
  readonly #database: RelayDatabase;
  readonly #vault: TokenVault;

  constructor(database: RelayDatabase, vault: TokenVault) {
    this.#database = database;
    this.#vault = vault;
  }

  /** The token of a credential; `undefined` when none was minted yet, or it cannot be read, and is then forgotten. */
  async find(credential: string): Promise<HeldProviderToken | undefined> {
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
   * Stores `token` unless another process has stored one that was minted after `olderThan`. The answer is the token that
   * stands: of several that mint at once, all use the first. One from the future, by a clock that was set back, gives way.
   */
  async replace(credential: string, token: HeldProviderToken, olderThan: number): Promise<HeldProviderToken> {
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
