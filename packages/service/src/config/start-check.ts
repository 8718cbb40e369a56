/** A check of something that a start needs, such as a file. It does not need a running service. */
export interface StartCheck {
  /** Name of the check in output and metrics. */
  readonly name: string;
  /**
   * Resolves to a note for the operator, or to `undefined`.
   * @throws ConfigurationError, or the error that a start would print, if the start would fail
   */
  check(): Promise<string | undefined>;
}
