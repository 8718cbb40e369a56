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
import { VapidKeys } from '../vapid/vapid-keys.js';
import type { KeyRingKeeper, StoredKeyRing } from './key-ring-keeper.js';
import { describeShutKeys, type Opener, openersOf } from './openers.js';

export interface LiveKeyRingOptions {
  readonly keeper: KeyRingKeeper;
  readonly steadyClock: SteadyClock;
  /** Monotonic clock in milliseconds. */
  readonly monotonic: Clock;
  readonly sodium: Pick<Sodium, 'generateKeyPair' | 'publicKeyOf' | 'wipe'> & TokenSodium;
  readonly log: Log;
}

/** Summary of the ring for operators. */
export interface KeyRingDescription {
  readonly primaryKeyId: string;
  /** Unix milliseconds. */
  readonly primarySince: number;
  readonly openingKeys: number;
  /** Why the stored ring is not in use, or why the clock is not trusted; `undefined` if there is no problem. */
  readonly problem: string | undefined;
}

/** Additional retention of daily counts after the policy's unused period. Covers more than the commands show. */
const shownUseMilliseconds = 90 * dayMilliseconds;
const scheduled = { actor: 'schedule', action: 'schedule' };
const secondTryMilliseconds = 10_000;
const rereadMilliseconds = 1000;

/**
 * The key ring of a running relay. {@link refresh} loads changes to the stored ring and applies the schedule. If that
 * fails, the last good ring stays in use.
 */
export class LiveKeyRing {
  readonly tokenVault: KeyRingTokenVault;
  readonly vapidKeys: VapidKeys;
  readonly #options: LiveKeyRingOptions;
  readonly #policy: RotationPolicy;
  #current: StoredKeyRing;
  #openers: ReadonlyMap<string, Opener>;
  #nextDueAt: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #storedProblem: string | undefined;
  #problem: string | undefined;
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
    const change = { actor: 'schedule', action: 'add VAPID keys' };
    this.vapidKeys = new VapidKeys(
      () => this.#current.ring,
      async (transition) => this.#adopt(await options.keeper.change(transition, change)),
    );
  }

  /**
   * Finds the key pair that opens registrations sealed to `bouncerPublicKey` (exact text). Returns `undefined` if the
   * key is unknown, retired, compromised or expired. O(1) in the number of keys. Use the pair within the current
   * event-loop tick: its private half is wiped when the key is removed.
   */
  find(bouncerPublicKey: string): KeyPair | undefined {
    const opener = this.#openers.get(bouncerPublicKey);
    if (opener === undefined || this.#options.steadyClock.now() >= opener.until) return undefined;
    return opener.pair;
  }

  /** The key that clients should seal to, in base64. */
  primaryPublicKey(): string {
    return primaryKey(this.#current.ring).publicKey;
  }

  /** Returns the signed key list. Every relay that shares the ring returns the same bytes. */
  publishedKeyList(): PublishedKeyList {
    const { published } = this.#current.ring;
    if (published === undefined) throw new Error('a key ring without a signed key list passed validation');
    return published;
  }

  /** Deletes daily counts that neither the commands nor the policy needs. Returns the number of deleted rows. */
  forgetOldUses(transaction: WriteTransaction<KeyRingTables>): Promise<number> {
    const kept = this.#policy.unusedForMilliseconds + shownUseMilliseconds;
    return deleteOldKeyUses(transaction.db, this.#options.steadyClock.now() - kept);
  }

  /** Destroys token keys that are older than `keyId`. Call it only after all rows have been re-encrypted. */
  async concludeTokenMove(keyId: string): Promise<void> {
    const change = { actor: 'schedule', action: 'conclude the move of tokens' };
    this.#adopt(await this.#options.keeper.change((ring) => concludeTokenMove(ring, keyId), change));
  }

  describe(): KeyRingDescription {
    const { ring } = this.#current;
    const { id: primaryKeyId, primarySince } = primaryKey(ring);
    return {
      primaryKeyId,
      primarySince,
      openingKeys: openingKeys(ring, this.#options.steadyClock.now()).length,
      problem: this.#problem,
    };
  }

  /**
   * Loads the stored ring if another process changed it, and applies the schedule: retires and rotates keys, and signs
   * the list. Never rejects. Logs a problem when it begins, changes or ends, once each. Single-flight: concurrent calls
   * share one refresh.
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /**
   * Loads a change that another process has just stored, such as a new key. If a refresh is in flight, waits for it and
   * then refreshes again, because the refresh in flight may have read an older ring.
   */
  async takeOver(): Promise<void> {
    await this.idle();
    await this.refresh();
  }

  /**
   * Returns a sentence that says why the stored ring is not in use, or `undefined` if it is in use. Reads the store at
   * most once a second, and decrypts only a changed ring.
   */
  async storedProblem(): Promise<string | undefined> {
    if (this.#options.monotonic() - this.#lookedAt >= rereadMilliseconds) await this.refresh();
    return this.#storedProblem;
  }

  /** Requires that the stored ring is in use. @throws ConfigurationError with the sentence of {@link storedProblem}. */
  async requireStored(): Promise<undefined> {
    const problem = await this.storedProblem();
    if (problem !== undefined) throw new ConfigurationError([problem]);
  }

  /** Returns a sentence that says why the ring in use cannot open registrations, or `undefined` if it can. */
  openingProblem(): string | undefined {
    const { sodium, steadyClock } = this.#options;
    const keys = openingKeys(this.#current.ring, steadyClock.now());
    return describeShutKeys(keys, (publicKey) => this.find(publicKey), sodium);
  }

  /** Resolves when no refresh is in flight. */
  async idle(): Promise<void> {
    await this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const { keeper } = this.#options;
    const isOther = 'the key ring in use is not the stored one';
    let what = isOther;
    try {
      const stored = await keeper.readStored();
      if (stored === undefined)
        throw new ConfigurationError(['The key ring is missing: restore it from a backup.']);
      if (stored !== this.#current.stored) await this.#follow({ ring: await this.#open(stored), stored });
      what = 'the key ring cannot be changed, or opened at the next start';
      await this.#requireUnlockFile(stored);
      what = isOther;
      if (this.#options.steadyClock.now() >= this.#nextDueAt) await this.#runDueSteps();
      this.#storedProblem = undefined;
      this.#noteClock();
    } catch (error) {
      const { message } = error as Error;
      const isClock = error instanceof ClockDoubtError;
      this.#storedProblem = isClock ? undefined : `${what}: ${message}`;
      this.#complain(this.#storedProblem ?? message, error);
    } finally {
      this.#lookedAt = this.#options.monotonic();
    }
  }

  /**
   * Checks that the unlock file still opens the ring. Decrypts only if the file has changed.
   * @throws ConfigurationError if the file is missing or does not open the ring.
   */
  async #requireUnlockFile(stored: string): Promise<void> {
    const { keeper, sodium } = this.#options;
    if (await keeper.hasSameUnlockFile()) return;
    wipeKeyRing(await this.#open(stored), sodium);
  }

  // A passphrase takes a second of CPU time, so not every refresh retries a ring that failed to decrypt.
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

  async #runDueSteps(): Promise<void> {
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
    // Phones have seen a newer list and would reject the restored list.
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
      'key ring reloaded',
    );
  }

  #noteClock(): void {
    const { steadyClock } = this.#options;
    const hours = Math.round(steadyClock.doubtedMilliseconds / 3_600_000);
    if (hours === 0) this.#noteEnd();
    else {
      const sentence = `the clock jumped forward by ${hours} hours: the new time is ignored, and no keys are retired, until it has lasted for an hour.`;
      this.#complain(sentence, undefined);
    }
  }

  #complain(sentence: string, error: unknown): void {
    if (this.#problem === sentence) return;
    this.#problem = sentence;
    const err = error instanceof ConfigurationError ? undefined : error;
    this.#options.log.error({ err }, sentence);
  }

  #noteEnd(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#options.log.info('the stored key ring is in use again');
  }
}

/** Returns when the schedule next changes the ring, in Unix milliseconds. */
function nextDueAt(ring: KeyRing, policy: RotationPolicy): number {
  const ends = ring.bouncerKeys.map((key) =>
    key.state === 'accepted' ? key.acceptedUntil : Number.POSITIVE_INFINITY,
  );
  const rotation = primaryKey(ring).primarySince + policy.rotateAfterMilliseconds;
  const renewal = ring.published === undefined ? 0 : renewalDue(ring.published.issuedAt, policy);
  return Math.min(rotation, renewal, ...ends);
}
