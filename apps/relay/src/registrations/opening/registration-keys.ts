import type { KeyPair } from '@waxwing/sodium';
import type { WriteTransaction } from '@waxwing/storage';
import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { RelayTables } from '../../tables.js';

/** The part of the key ring that registering needs. */
export interface RegistrationKeys {
  /**
   * Finds the key pair that opens registrations sealed to `bouncerPublicKey`. Compares the exact text, not the decoded
   * bytes. O(1) in the number of keys. Returns `undefined` if the key is unknown, retired or compromised.
   */
  find(bouncerPublicKey: string): KeyPair | undefined;
  /**
   * Reloads the ring immediately. Call it if {@link find} does not find a key: another relay that shares the ring may
   * have just created the key, and a phone may already use it. Single-flight: concurrent calls share one read.
   */
  takeOver(): Promise<void>;
}

/** The row in which a key's use is counted. */
export interface KeyUseRow {
  /** Days since the Unix epoch, UTC. */
  readonly day: number;
  readonly slot: number;
}

/** Counts how often each key opens registrations. */
export interface KeyUseCounts {
  /**
   * Counts `count` registrations opened with a key at `now` (Unix milliseconds), in the same commit. Changes only the
   * state of `transaction`, because the transaction may be retried from the start.
   */
  used(
    transaction: WriteTransaction<RelayTables>,
    bouncerPublicKey: string,
    count: number,
    now: number,
  ): void;
  /** Returns the row for uses at `now` (Unix milliseconds), to pass to {@link insertion}. */
  rowAt(now: number): KeyUseRow;
  /**
   * Returns {@link used} as a part of a statement: adds the rows that `uses` selects, with `public_key`, `day`, `slot`,
   * `registrations` and `last_used_at`. Each combination of key, day and slot may occur only once.
   */
  insertion(db: Kysely<RelayTables>, uses: RawBuilder<unknown>): Compilable<unknown>;
}
