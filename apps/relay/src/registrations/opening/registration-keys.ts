import type { KeyPair } from '@waxwing/sodium';
import type { WriteTransaction } from '@waxwing/storage';
import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { RelayTables } from '../../tables.js';

/** What registering needs of the key ring. */
export interface RegistrationKeys {
  /**
   * The pair that opens what was sealed to `bouncerPublicKey`, found by the exact text (no other encoding of the same
   * bytes) in constant time; `undefined` for keys unknown, retired or compromised.
   */
  find(bouncerPublicKey: string): KeyPair | undefined;
  /**
   * Takes over at once what another relay of the same ring may have changed a moment ago; for a key that
   * {@link find} does not know, since a phone may have learnt of it already. Calls at the same time share one look.
   */
  takeOver(): Promise<void>;
}

/** In which of its rows a key's use is counted. */
export interface KeyUsePlace {
  /** Days since the Unix epoch, UTC. */
  readonly day: number;
  readonly slot: number;
}

/** Counts how often each key opens registrations. */
export interface KeyUseCounts {
  /**
   * Counts `count` registrations opened with a key at `now` (Unix milliseconds), committed with them. It may be run
   * again from the start, so it acts through `transaction` alone.
   */
  used(
    transaction: WriteTransaction<RelayTables>,
    bouncerPublicKey: string,
    count: number,
    now: number,
  ): void;
  /** Where uses of one moment (Unix milliseconds) are counted that {@link insertion} is given. */
  placeAt(now: number): KeyUsePlace;
  /**
   * What {@link used} does, as part of a statement: adds what `uses` selects, which is `public_key`, `day`, `slot`,
   * `registrations` and `last_used_at`, each key and place once.
   */
  insertion(db: Kysely<RelayTables>, uses: RawBuilder<unknown>): Compilable<unknown>;
}
