import type { WriteTransaction } from '@waxwing/storage';
import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { KeyUseCounts, KeyUseRow } from '../../registrations/opening/registration-keys.js';
import type { KeyRingTables } from '../storage/key-ring-tables.js';
import { countKeyUses, dayOf, keyUseInsertion, type NewUse } from './key-uses.js';

const useSlots = 8;

/** Implements {@link KeyUseCounts} with counts in the database. */
export class KeyUseCounter implements KeyUseCounts {
  /** Uses counted so far, per open transaction. */
  readonly #uses = new WeakMap<object, Map<string, NewUse>>();
  readonly #random: () => number;

  /** @param random returns a number in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * Counts uses of a key in a transaction. The counts are written at the transaction's end, into one slot and in a fixed
   * order. Transactions in different slots do not block each other, and two transactions in one slot cannot deadlock.
   */
  used(
    transaction: WriteTransaction<KeyRingTables>,
    bouncerPublicKey: string,
    count: number,
    now: number,
  ): void {
    let uses = this.#uses.get(transaction);
    if (uses === undefined) {
      const own = new Map<string, NewUse>();
      this.#uses.set(transaction, own);
      const slot = this.#slot();
      transaction.beforeCommit(() => countKeyUses(transaction.db, [...own.values()], slot));
      uses = own;
    }
    const name = `${bouncerPublicKey} ${dayOf(now)}`;
    const before = uses.get(name) ?? { publicKey: bouncerPublicKey, registrations: 0, now };
    const registrations = before.registrations + count;
    uses.set(name, { publicKey: bouncerPublicKey, registrations, now: Math.max(before.now, now) });
  }

  rowAt(now: number): KeyUseRow {
    return { day: dayOf(now), slot: this.#slot() };
  }

  insertion(db: Kysely<KeyRingTables>, uses: RawBuilder<unknown>): Compilable<unknown> {
    return keyUseInsertion(db, uses);
  }

  #slot(): number {
    return Math.floor(this.#random() * useSlots);
  }
}
