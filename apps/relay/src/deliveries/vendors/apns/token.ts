import type { Clock } from '@waxwing/service/lifecycle';
import { SignJWT } from 'jose';
import type { ApnsApp } from '../../apps/app-set.js';
import { clockDifferenceMilliseconds, type ProviderTokenStore } from './token-store.js';

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

interface HeldToken {
  readonly authorization: string;
  readonly mintedAt: number;
}

/**
 * The provider token of one team's key, minted by whichever process comes first and shared with the others.
 * https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
 */
export class ProviderToken {
  readonly #options: ProviderTokenOptions;
  #held: HeldToken | undefined;
  #obtaining: Promise<HeldToken> | undefined;

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

  #obtain(maximumAgeMilliseconds: number): Promise<HeldToken> {
    this.#obtaining ??= this.#obtainOnce(maximumAgeMilliseconds).finally(() => {
      this.#obtaining = undefined;
    });
    return this.#obtaining;
  }

  async #obtainOnce(maximumAgeMilliseconds: number): Promise<HeldToken> {
    try {
      this.#held = await this.#takeOrMint(maximumAgeMilliseconds);
    } catch (error) {
      // The database is away: the token in hand is good for as long as Apple takes it.
      if (this.#held === undefined || this.#ageOf(this.#held) >= usableMilliseconds) throw error;
    }
    return this.#held;
  }

  async #takeOrMint(maximumAgeMilliseconds: number): Promise<HeldToken> {
    const { app, clock, store } = this.#options;
    const shared = await store.find(app.fingerprint);
    if (shared !== undefined && this.#ageOf(shared) < maximumAgeMilliseconds) return shared;
    const minted = await this.#mint(clock());
    return store.replace(app.fingerprint, minted, clock() - maximumAgeMilliseconds);
  }

  async #mint(now: number): Promise<HeldToken> {
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
  #ageOf({ mintedAt }: HeldToken): number {
    const age = this.#options.clock() - mintedAt;
    return age < -clockDifferenceMilliseconds ? Number.POSITIVE_INFINITY : Math.max(0, age);
  }
}
