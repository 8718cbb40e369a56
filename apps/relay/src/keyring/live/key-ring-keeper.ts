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
import { parseMoveMark } from '../storage/key-ring-place.js';
import type { KeyRingStore } from '../storage/key-ring-store.js';

export interface KeyRingKeeperOptions {
  readonly store: KeyRingStore;
  readonly unlock: UnlockFile;
  readonly policy: RotationPolicy;
  readonly sodium: Sodium;
  readonly clock: Clock;
  /** The day that the operator says it is (its first instant in UTC, Unix milliseconds), if one was named. */
  readonly confirmedDay?: number | undefined;
  /** An instant that has passed for sure, in Unix milliseconds; see `ClockReading`. */
  readonly witnessed?: () => number | undefined;
  readonly audit: AuditLog;
  /** log2 of scrypt's cost, for passphrases; what age uses by default. */
  readonly scryptWorkFactor?: number;
}

/** Who changes the ring, and how they call it; for the audit log. */
export interface Change {
  readonly actor: string;
  readonly action: string;
  /** Whether this is what makes the ring's instants those of the clock again. */
  readonly mendsDates?: boolean;
}

/** A ring and the text that it was read from. */
export interface StoredKeyRing {
  readonly ring: KeyRing;
  readonly stored: string;
}

/**
 * Reads and changes the key ring where it rests. A change is made on what is there at that moment, so that several
 * processes never undo each other's.
 */
export class KeyRingKeeper {
  readonly options: KeyRingKeeperOptions;

  constructor(options: KeyRingKeeperOptions) {
    this.options = options;
  }

  /** The encrypted text; `undefined` when there is no ring. @throws ConfigurationError when it must not be used. */
  readStored(): Promise<string | undefined> {
    return this.options.store.read();
  }

  /**
   * The ring, for the caller to wipe when it has served.
   * @throws ConfigurationError saying how to mend it when there is no ring, it does not open, or it is not sound.
   */
  async read(): Promise<StoredKeyRing> {
    const stored = await this.readStored();
    if (stored === undefined) {
      throw new ConfigurationError([
        `There is no key ring in ${this.options.store.place}: make one with waxwing-relay keys init.`,
      ]);
    }
    return { ring: await this.open(stored), stored };
  }

  /** What `look` finds in the ring, which is wiped afterwards. @throws ConfigurationError as {@link read} does. */
  async look<Found>(look: (ring: KeyRing) => Found): Promise<Found> {
    const { ring } = await this.read();
    try {
      return look(ring);
    } finally {
      wipeKeyRing(ring, this.options.sodium);
    }
  }

  /** Decrypts and checks. @throws ConfigurationError as {@link read} does. */
  async open(stored: string): Promise<KeyRing> {
    const { store, sodium, unlock, scryptWorkFactor } = this.options;
    const movedTo = parseMoveMark(stored);
    if (movedTo !== undefined) {
      throw new ConfigurationError([
        `The key ring was moved from ${store.place} to ${movedTo}: set RELAY_KEY_RING=${movedTo} and restart the relay.`,
      ]);
    }
    const document = await (await openKeyRingCipher(unlock, scryptWorkFactor)).decrypt(stored);
    let ring: KeyRing;
    try {
      ring = decodeKeyRing(document);
    } catch (error) {
      throw new ConfigurationError([
        `The key ring in ${store.place} has a wrong form (${(error as Error).message}): restore it from a backup.`,
      ]);
    }
    const problem = checkKeyRing(ring, sodium);
    if (problem === undefined) return ring;
    wipeKeyRing(ring, sodium);
    throw new ConfigurationError([`${problem} (It is in ${store.place}.)`]);
  }

  /** Stores the first ring of a place, its key list signed. Whether that happened: not where there is one already. */
  async create(ring: KeyRing, actor: string): Promise<boolean> {
    const published = this.#publish(ring);
    const stored = await this.#seal(published);
    const changes = describeChanges(undefined, published);
    return this.#audited({ actor, action: 'init', changes }, () =>
      this.options.store.replace(undefined, stored),
    );
  }

  /** Does nothing but what {@link change} would do to the ring. @throws what it would throw. */
  preview(transition: (ring: KeyRing) => KeyRing, { mendsDates = false } = {}): Promise<void> {
    return this.look((ring) =>
      wipeKeyRing(this.#transformed(ring, transition, mendsDates), this.options.sodium),
    );
  }

  /** @throws ClockDoubtError when the clock is far from the ring's own instants. */
  requireClockOf(ring: KeyRing): void {
    const { clock, confirmedDay, witnessed } = this.options;
    requireClockOfRing(ring, { now: clock(), confirmedDay, witnessed: witnessed?.() });
  }

  /**
   * Stores what `transition` makes of the ring, its key list signed again where that is needed; nothing when it changes
   * nothing. `transition` is run again when another process was faster. Answers the ring that is stored, for the caller
   * to wipe; the private halves that the change has destroyed are wiped already.
   * @throws what `transition` throws, ConfigurationError as {@link read} does, and ClockDoubtError; nothing is changed then.
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

  /** `undefined` when another process was faster. */
  async #changed(
    before: StoredKeyRing,
    transition: (ring: KeyRing) => KeyRing,
    { actor, action, mendsDates = false }: Change,
  ): Promise<StoredKeyRing | undefined> {
    const { store, sodium } = this.options;
    const ring = this.#publish(this.#transformed(before.ring, transition, mendsDates));
    if (ring === before.ring) return before;
    const problem = checkKeyRing(ring, sodium);
    if (problem !== undefined) throw new CommandError(`The change would spoil the key ring: ${problem}`);
    const stored = await this.#seal(ring);
    const changes = describeChanges(before.ring, ring);
    const replaced = await this.#audited({ actor, action, changes }, () =>
      store.replace(before.stored, stored),
    );
    return replaced ? { ring, stored } : undefined;
  }

  /** Encrypts the ring again, for the first secret of `unlock`. */
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
