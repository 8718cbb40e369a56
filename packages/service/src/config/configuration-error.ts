/** Invalid configuration. The message has one sentence per problem, which also says how to fix it. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}
