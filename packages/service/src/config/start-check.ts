/** Check of something that the service needs at startup, such as a file. Runs without a running service. */
export interface StartCheck {
  /** Name of the check in output and metrics. */
  readonly name: string;
  /**
   * Resolves to a note for the operator, or `undefined` if there is none.
   * @throws ConfigurationError, or the error that would be printed, if startup would fail
   */
  check(): Promise<string | undefined>;
}
