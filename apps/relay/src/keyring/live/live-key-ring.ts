import { ConfigurationError } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { KeyPair, Sodium } from '@waxwing/sodium';
import type { WriteTransaction } from '@waxwing/storage';
import { ClockDoubtError } from '../clock/ring-clock.js';
import type { SteadyClock } from '../clock/steady-clock.js';
import { renewalDue, withListToRenew } from '../list/publish-key-list.js';
import { type KeyRing, openingKeys, type PublishedKeyList, primaryKey } from '../ring/key-ring.js';
import { applySchedule, concludeTokenMove } from '../ring/key-ring-transitions.js';
import { dayMilliseconds, type RotationPolicy } from '../ring/rotation-policy.js';
import { wipeKeyRing } from '../ring/wipe-key-ring.js';
import type { KeyRingTables } from '../storage/key-ring-tables.js';
import { KeyRingTokenVault, type TokenSodium } from '../tokens/key-ring-token-vault.js';
import { deleteOldKeyUses } from '../uses/key-uses.js';
import type { KeyRingKeeper, StoredKeyRing } from './key-ring-keeper.js';
import { describeShutKeys, type Opener, openersOf } from './openers.js';

export interface LiveKeyRingOptions {
  readonly keeper: KeyRingKeeper;
  readonly steadyClock: SteadyClock;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: Clock;
  readonly sodium: Pick<Sodium, 'generateKeyPair' | 'publicKeyOf' | 'wipe'> & TokenSodium;
  readonly log: Log;
}

/** What a person should know of the ring. */
export interface KeyRingDescription {
  readonly primaryKeyId: string;
  readonly openingKeys: number;
  /** Why the ring that is stored is not the one in use, or the clock not believed; `undefined` when all is well. */
  readonly problem: string | undefined;
}

/** More than the commands show. */
const shownUseMilliseconds = 90 * dayMilliseconds;
const scheduled = { actor: 'schedule', action: 'schedule' };
const secondTryMilliseconds = 10_000;
const problemRepeatMilliseconds = 60_000;
const lookAgainMilliseconds = 1000;

/**
 * The key ring of a running relay. {@link refresh} follows what is stored and does what time brings; when that fails,
 * the ring that was good stays in use.
 */
export class LiveKeyRing {
  readonly tokenVault: KeyRingTokenVault;
  readonly #options: LiveKeyRingOptions;
  readonly #policy: RotationPolicy;
  #current: StoredKeyRing;
  #openers: ReadonlyMap<string, Opener>;
  #nextDueAt: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #storedProblem: string | undefined;
  #problem: { readonly sentence: string; readonly saidAt: number } | undefined;
  #unopened: { readonly stored: string; readonly error: unknown; readonly at: number } | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(current: StoredKeyRing, options: LiveKeyRingOptions) {
    this.#options = options;
    this.#policy = options.keeper.options.policy;
    this.#current = current;
    this.#openers = openersOf(current.ring);
    this.#nextDueAt = nextDueAt(current.ring, this.#policy);
    const now = () => options.steadyClock.now();
    this.tokenVault = new KeyRingTokenVault(() => this.#current.ring, now, options.sodium);
  }

  /**
   * The pair that opens what was sealed to `bouncerPublicKey`, by the exact text; `undefined` for a key that is unknown,
   * retired, compromised or past its date. The time it takes does not depend on how many keys there are. Use it before
   * the next turn of the event loop: its private half is wiped when the key goes.
   */
  find(bouncerPublicKey: string): KeyPair | undefined {
    const opener = this.#openers.get(bouncerPublicKey);
    if (opener === undefined || this.#options.steadyClock.now() >= opener.until) return undefined;
    return opener.pair;
  }

  /** Base64 of the key that clients should seal to. */
  primaryPublicKey(): string {
    return primaryKey(this.#current.ring).publicKey;
  }

  /** The signed key list as every relay of this ring serves it. */
  publishedKeyList(): PublishedKeyList {
    const { published } = this.#current.ring;
    if (published === undefined) throw new Error('a key ring without a signed key list was let through');
    return published;
  }

  /** Deletes the daily counts that neither a command shows nor the policy asks for any more; how many they were. */
  forgetOldUses(transaction: WriteTransaction<KeyRingTables>): Promise<number> {
    const kept = this.#policy.unusedForMilliseconds + shownUseMilliseconds;
    return deleteOldKeyUses(transaction.db, this.#options.steadyClock.now() - kept);
  }

  /** Destroys the token keys that are older than this one, now that all rows are moved. */
  async concludeTokenMove(keyId: string): Promise<void> {
    const change = { actor: 'schedule', action: 'conclude the move of tokens' };
    this.#adopt(await this.#options.keeper.change((ring) => concludeTokenMove(ring, keyId), change));
  }

  describe(): KeyRingDescription {
    const { ring } = this.#current;
    return {
      primaryKeyId: primaryKey(ring).id,
      openingKeys: openingKeys(ring, this.#options.steadyClock.now()).length,
      problem: this.#problem?.sentence,
    };
  }

  /**
   * Takes over the ring that is stored, if another process changed it, and does what is due: retire, rotate, sign the
   * list again. Never rejects; what goes wrong is logged, at once and then every minute. Calls at the same time share one.
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /**
   * Takes over what is stored now, not what a look that is under way may have read before: for a key that is not known,
   * which may have been made elsewhere a moment ago. Like {@link refresh} otherwise.
   */
  async takeOver(): Promise<void> {
    await this.idle();
    await this.refresh();
  }

  /**
   * Why the ring that is stored is not the one in use, a sentence; `undefined` when it is. Looks at what is stored, but
   * once a second at most, and decrypts it only when it has changed.
   */
  async storedProblem(): Promise<string | undefined> {
    if (this.#options.monotonic() - this.#lookedAt >= lookAgainMilliseconds) await this.refresh();
    return this.#storedProblem;
  }

  /** Why the ring in use does not open what phones seal to it, a sentence; `undefined` when it does. */
  openingProblem(): string | undefined {
    const { sodium, steadyClock } = this.#options;
    const keys = openingKeys(this.#current.ring, steadyClock.now());
    return describeShutKeys(keys, (publicKey) => this.find(publicKey), sodium);
  }

  /** Resolves when nothing is being refreshed. */
  async idle(): Promise<void> {
    await this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const { keeper } = this.#options;
    try {
      const stored = await keeper.readStored();
      if (stored === undefined)
        throw new ConfigurationError(['The key ring is gone: restore it from a backup.']);
      if (stored !== this.#current.stored) await this.#follow({ ring: await this.#open(stored), stored });
      if (this.#options.steadyClock.now() >= this.#nextDueAt) await this.#doWhatIsDue();
      this.#storedProblem = undefined;
      this.#noteClock();
    } catch (error) {
      const { message } = error as Error;
      const isClock = error instanceof ClockDoubtError;
      this.#storedProblem = isClock
        ? undefined
        : `the key ring in use is not the one that is stored: ${message}`;
      this.#complain(this.#storedProblem ?? message, error);
    } finally {
      this.#lookedAt = this.#options.monotonic();
    }
  }

  // A passphrase takes a second of work to try: what did not open is not tried again at every look.
  async #open(stored: string): Promise<KeyRing> {
    const now = this.#options.monotonic();
    const tried = this.#unopened;
    if (tried?.stored === stored && now - tried.at < secondTryMilliseconds) throw tried.error;
    try {
      return await this.#options.keeper.open(stored);
    } catch (error) {
      this.#unopened = { stored, error, at: now };
      throw error;
    }
  }

  async #doWhatIsDue(): Promise<void> {
    const { keeper, sodium, steadyClock, log } = this.#options;
    const now = steadyClock.now();
    const context = { now, policy: this.#policy, makeKeyPair: () => sodium.generateKeyPair() };
    const before = this.primaryPublicKey();
    this.#adopt(await keeper.change((ring) => applySchedule(ring, context), scheduled));
    if (this.primaryPublicKey() !== before) log.info({ key: this.describe().primaryKeyId }, 'key rotated');
  }

  async #follow(next: StoredKeyRing): Promise<void> {
    const { keeper, log } = this.#options;
    const lastSequence = this.publishedKeyList().sequence;
    this.#adopt(next);
    if ((next.ring.published?.sequence ?? 0) >= lastSequence) return;
    // Phones have seen a newer list, and would refuse this one.
    log.warn('an older key ring was restored: its key list is signed again');
    const change = { actor: 'schedule', action: 'sign after a restore' };
    this.#adopt(await keeper.change(withListToRenew, change));
  }

  #adopt(next: StoredKeyRing): void {
    const { sodium } = this.#options;
    if (next.ring === this.#current.ring) return;
    if (next.stored === this.#current.stored) {
      wipeKeyRing(next.ring, sodium);
      return;
    }
    const old = this.#current.ring;
    this.#current = next;
    this.#openers = openersOf(next.ring);
    this.#nextDueAt = nextDueAt(next.ring, this.#policy);
    wipeKeyRing(old, sodium);
    this.#options.log.info(
      { key: this.describe().primaryKeyId, keys: this.#openers.size },
      'key ring taken over',
    );
  }

  #noteClock(): void {
    const { steadyClock } = this.#options;
    const hours = Math.round(steadyClock.doubtedMilliseconds / 3_600_000);
    if (hours === 0) this.#problem = undefined;
    else {
      const sentence = `the clock jumped forward by ${hours} hours: it is not believed, and no key retired by it, until it has stood for an hour.`;
      this.#complain(sentence, undefined);
    }
  }

  #complain(sentence: string, error: unknown): void {
    const now = this.#options.steadyClock.now();
    const said = this.#problem;
    if (said?.sentence === sentence && now - said.saidAt < problemRepeatMilliseconds) return;
    this.#problem = { sentence, saidAt: now };
    const err = error instanceof ConfigurationError ? undefined : error;
    this.#options.log.error({ err }, sentence);
  }
}

/** When time alone next changes something, in Unix milliseconds. */
function nextDueAt(ring: KeyRing, policy: RotationPolicy): number {
  const ends = ring.bouncerKeys.map((key) =>
    key.state === 'accepted' ? key.acceptedUntil : Number.POSITIVE_INFINITY,
  );
  const rotation = primaryKey(ring).primarySince + policy.rotateAfterMilliseconds;
  const renewal = ring.published === undefined ? 0 : renewalDue(ring.published.issuedAt, policy);
  return Math.min(rotation, renewal, ...ends);
}
