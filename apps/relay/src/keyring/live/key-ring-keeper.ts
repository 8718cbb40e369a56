import { CommandError } from '@waxwing/service/command-line';
import { ConfigurationError } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { requireClockOfRing } from '../clock/ring-clock.js';
import { publishKeyList } from '../list/publish-key-list.js';
import { checkKeyRing } from '../ring/check-key-ring.js';
import type { KeyRing } from '../ring/key-ring.js';
import { describeChanges } from '../ring/key-ring-changes.js';
import type { RotationPolicy } from '../ring/rotation-policy.js';
import { wipeKeyRing } from '../ring/wipe-key-ring.js';
import type { AuditLog } from '../storage/audit-log.js';
import { openKeyRingCipher, type UnlockFile } from '../storage/key-ring-cipher.js';
import { decodeKeyRing, encodeKeyRing } from '../storage/key-ring-document.js';
import { parseMoveMark } from '../storage/key-ring-location.js';
import type { KeyRingStore } from '../storage/key-ring-store.js';

export interface KeyRingKeeperOptions {
  readonly store: KeyRingStore;
  readonly unlock: UnlockFile;
  readonly policy: RotationPolicy;
  readonly sodium: Sodium;
  readonly clock: Clock;
  /** The current day according to the operator (its first instant in UTC, Unix milliseconds), if given. */
  readonly confirmedDay?: number | undefined;
  /** A time that has certainly passed, in Unix milliseconds; see `ClockReading`. */
  readonly witnessed?: () => number | undefined;
  readonly audit: AuditLog;
  /** log2 of scrypt's cost for passphrases. Default: age's default. */
  readonly scryptWorkFactor?: number;
}

/** Actor and action of a change, for the audit log. */
export interface Change {
  readonly actor: string;
  readonly action: string;
  /** Whether this change resets future dates in the ring. */
  readonly mendsDates?: boolean;
}

/** A decrypted ring with its stored text. */
export interface StoredKeyRing {
  readonly ring: KeyRing;
  readonly stored: string;
}

/**
 * Reads and changes the stored key ring. Each change is a compare-and-swap against the stored text, so that processes
 * never overwrite each other's changes.
 */
export class KeyRingKeeper {
  readonly options: KeyRingKeeperOptions;
  /** Fingerprint of the unlock file that last opened the ring. */
  #openedWith: string | undefined;

  constructor(options: KeyRingKeeperOptions) {
    this.options = options;
  }

  /**
   * Returns the encrypted text, or `undefined` if there is no ring. @throws ConfigurationError if the store is unsafe.
   */
  readStored(): Promise<string | undefined> {
    return this.options.store.read();
  }

  /**
   * Reads and decrypts the ring. The caller wipes it after use.
   * @throws ConfigurationError with the remedy if the ring is missing, cannot be decrypted, or is invalid.
   */
  async read(): Promise<StoredKeyRing> {
    const stored = await this.readStored();
    if (stored === undefined) {
      throw new ConfigurationError([
        `There is no key ring in ${this.options.store.location}: create one with waxwing-relay keys init.`,
      ]);
    }
    return { ring: await this.open(stored), stored };
  }

  /**
   * Returns the result of `look` and wipes the ring.
   * @throws ConfigurationError for the same reasons as {@link read}.
   */
  async look<Found>(look: (ring: KeyRing) => Found): Promise<Found> {
    const { ring } = await this.read();
    try {
      return look(ring);
    } finally {
      wipeKeyRing(ring, this.options.sodium);
    }
  }

  /**
   * Whether the identity or passphrase file is still the one that last opened the ring.
   * @throws ConfigurationError if the file is missing or unusable.
   */
  async hasSameUnlockFile(): Promise<boolean> {
    const { unlock, scryptWorkFactor } = this.options;
    return (await openKeyRingCipher(unlock, scryptWorkFactor)).fingerprint === this.#openedWith;
  }

  /** Decrypts and validates a stored ring. @throws ConfigurationError for the same reasons as {@link read}. */
  async open(stored: string): Promise<KeyRing> {
    const { store, sodium, unlock, scryptWorkFactor } = this.options;
    const movedTo = parseMoveMark(stored);
    if (movedTo !== undefined) {
      throw new ConfigurationError([
        `The key ring was moved from ${store.location} to ${movedTo}: set RELAY_KEY_RING=${movedTo} and restart the relay.`,
      ]);
    }
    const cipher = await openKeyRingCipher(unlock, scryptWorkFactor);
    const document = await cipher.decrypt(stored);
    this.#openedWith = cipher.fingerprint;
    let ring: KeyRing;
    try {
      ring = decodeKeyRing(document);
    } catch (error) {
      throw new ConfigurationError([
        `The key ring in ${store.location} is invalid (${(error as Error).message}): restore it from a backup.`,
      ]);
    }
    const problem = checkKeyRing(ring, sodium);
    if (problem === undefined) return ring;
    wipeKeyRing(ring, sodium);
    throw new ConfigurationError([`${problem} (It is in ${store.location}.)`]);
  }

  /** Signs the key list and stores the ring in an empty store. Returns `false` if the store already has a ring. */
  async create(ring: KeyRing, actor: string): Promise<boolean> {
    const published = this.#publish(ring);
    const stored = await this.#seal(published);
    const changes = describeChanges(undefined, published);
    return this.#audited({ actor, action: 'init', changes }, () =>
      this.options.store.replace(undefined, stored),
    );
  }

  /** Runs `transition` as {@link change} does, without storing the result. @throws the errors of {@link change}. */
  preview(transition: (ring: KeyRing) => KeyRing, { mendsDates = false } = {}): Promise<void> {
    return this.look((ring) =>
      wipeKeyRing(this.#transformed(ring, transition, mendsDates), this.options.sodium),
    );
  }

  /** @throws ClockDoubtError if the clock is far from the times in the ring. */
  requireClockOf(ring: KeyRing): void {
    const { clock, confirmedDay, witnessed } = this.options;
    requireClockOfRing(ring, { now: clock(), confirmedDay, witnessed: witnessed?.() });
  }

  /**
   * Applies `transition` to the stored ring, signs the key list again if needed, and stores the result. Stores nothing
   * if `transition` changes nothing. Runs `transition` again if another process changed the ring first. Returns the
   * stored ring, which the caller wipes. Private halves that the change destroyed are already wiped.
   * @throws the errors of `transition` and {@link read}, and ClockDoubtError, without any change.
   */
  async change(transition: (ring: KeyRing) => KeyRing, change: Change): Promise<StoredKeyRing> {
    const { sodium } = this.options;
    for (;;) {
      const before = await this.read();
      let after: StoredKeyRing | undefined;
      try {
        after = await this.#changed(before, transition, change);
      } finally {
        wipeKeyRing(before.ring, sodium, after?.ring);
      }
      if (after !== undefined) return after;
    }
  }

  /** Returns `undefined` if another process changed the ring first. */
  async #changed(
    before: StoredKeyRing,
    transition: (ring: KeyRing) => KeyRing,
    { actor, action, mendsDates = false }: Change,
  ): Promise<StoredKeyRing | undefined> {
    const { store, sodium } = this.options;
    const ring = this.#publish(this.#transformed(before.ring, transition, mendsDates));
    if (ring === before.ring) return before;
    const problem = checkKeyRing(ring, sodium);
    if (problem !== undefined)
      throw new CommandError(`The change would make the key ring invalid: ${problem}`);
    const stored = await this.#seal(ring);
    const changes = describeChanges(before.ring, ring);
    const replaced = await this.#audited({ actor, action, changes }, () =>
      store.replace(before.stored, stored),
    );
    return replaced ? { ring, stored } : undefined;
  }

  /** Re-encrypts the ring for the first secret in `unlock`. */
  async rewrap(actor: string, unlock: UnlockFile = this.options.unlock): Promise<void> {
    const changes = [`encrypted for the first ${unlock.kind} of ${unlock.path}`];
    for (;;) {
      const { ring, stored } = await this.read();
      const next = await this.#seal(ring, unlock).finally(() => wipeKeyRing(ring, this.options.sodium));
      const replaced = await this.#audited({ actor, action: 'rewrap', changes }, () =>
        this.options.store.replace(stored, next),
      );
      if (replaced) return;
    }
  }

  async #audited(
    entry: Pick<Change, 'actor' | 'action'> & { readonly changes: readonly string[] },
    replace: () => Promise<boolean>,
  ): Promise<boolean> {
    const { audit, clock } = this.options;
    await audit.append({ at: clock(), ...entry, phase: 'begun' });
    const replaced = await replace();
    if (replaced) await audit.append({ at: clock(), ...entry, phase: 'done' });
    return replaced;
  }

  #transformed(ring: KeyRing, transition: (ring: KeyRing) => KeyRing, mendsDates: boolean): KeyRing {
    if (!mendsDates) this.requireClockOf(ring);
    const next = transition(ring);
    if (mendsDates) this.requireClockOf(next);
    return next;
  }

  #publish(ring: KeyRing): KeyRing {
    const { sodium, policy, clock } = this.options;
    return publishKeyList(ring, { sodium, policy, now: clock() });
  }

  async #seal(ring: KeyRing, unlock = this.options.unlock): Promise<string> {
    const cipher = await openKeyRingCipher(unlock, this.options.scryptWorkFactor);
    const document = encodeKeyRing(ring);
    return cipher.encrypt(document).finally(() => this.options.sodium.wipe(document));
  }
}
