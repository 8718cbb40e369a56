/** A check of something that a start needs, such as a file. Needs no running service. */
export interface StartCheck {
  /** Names it in output, and in metrics. */
  readonly name: string;
  /**
   * Resolves to a note for people, or to `undefined`.
   * @throws ConfigurationError, or another error that a start would print, if the start would fail.
   */
  check(): Promise<string | undefined>;
}
