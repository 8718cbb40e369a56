/** Where the encrypted key ring rests. Texts are ASCII-armoured age files. */
export interface KeyRingStore {
  /** Names the place, for sentences: a path, or the database. */
  readonly place: string;
  /** What tells this place from all others, by whatever path it is named: two that share one of these are the same. */
  identities(): readonly string[];
  /** The encrypted ring; `undefined` when there is none. @throws ConfigurationError when it must not be used. */
  read(): Promise<string | undefined>;
  /**
   * Puts `next` in the place of `expected` (`undefined`: of nothing), whole or not at all and durably. Whether that
   * happened: not when another process has changed the ring since it was read.
   */
  replace(expected: string | undefined, next: string): Promise<boolean>;
  /** Removes `expected`. Whether that happened: not when something else is there. */
  remove(expected: string): Promise<boolean>;
}
