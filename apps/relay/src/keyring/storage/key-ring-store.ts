/** Storage of the encrypted key ring. Texts are ASCII-armored age files. */
export interface KeyRingStore {
  /** Name of the location for messages: a path, or the database. */
  readonly location: string;
  /**
   * Identities of the storage location, independent of the path used to reach it. Two stores that share one identity
   * are the same.
   */
  identities(): readonly string[];
  /**
   * Returns the encrypted ring, or `undefined` if there is none. @throws ConfigurationError when it must not be used.
   */
  read(): Promise<string | undefined>;
  /**
   * Replaces `expected` with `next`, atomically and durably. `expected` is `undefined` if there is no ring yet. Returns
   * `false` if another process changed the ring after it was read.
   */
  replace(expected: string | undefined, next: string): Promise<boolean>;
  /** Removes `expected`. Returns `false` if something else is stored. */
  remove(expected: string): Promise<boolean>;
}
