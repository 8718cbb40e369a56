/** Storage of the encrypted key ring. Texts are ASCII-armored age files. */
export interface KeyRingStore {
  /** Name of the location for messages: a path, or the database. */
  readonly location: string;
  /**
   * Returns identities of the storage location that do not depend on the path. Two stores with a common identity have
   * the same location.
   */
  identities(): readonly string[];
  /**
   * Returns the encrypted ring, or `undefined` if no ring is stored. @throws ConfigurationError if the store is unsafe.
   */
  read(): Promise<string | undefined>;
  /**
   * Replaces `expected` with `next`, atomically and durably. `expected` is `undefined` if there is no ring yet. Returns
   * `false` if another process changed the ring after it was read.
   */
  replace(expected: string | undefined, next: string): Promise<boolean>;
  /** Removes the ring. Returns `false` if the stored text is not `expected`. */
  remove(expected: string): Promise<boolean>;
}
