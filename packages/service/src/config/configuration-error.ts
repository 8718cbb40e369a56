/** What is wrong with how a process was configured: one sentence for each problem, each saying how to mend it. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}
