import { ConfigurationError } from './configuration-error.js';
import { describeDatabaseUrlMistake } from './database-url.js';
import { hideSecrets, holdsPassword, isSecretText } from './misplaced-secret.js';
import { nearestName } from './nearest-name.js';
import { Secret } from './secret.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface IntegerRange {
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * Reads the environment variables that have a given prefix. Collects problems to report them together. An empty
 * variable counts as unset. Call {@link finish} last.
 */
export class EnvironmentReader {
  readonly #environment: Environment;
  readonly #prefix: string;
  readonly #known = new Set<string>();
  readonly #problems: string[] = [];

  constructor(environment: Environment, prefix: string) {
    this.#environment = environment;
    this.#prefix = prefix;
  }

  /**
   * Returns the variable's value, or `undefined` if it is unset. Reports a value that looks like a secret as a problem:
   * secrets belong in files, and settings contain only the paths of those files.
   */
  optional(name: string): string | undefined {
    const isNew = !this.#known.has(name);
    this.#known.add(name);
    const text = this.#environment[this.#prefix + name] || undefined;
    if (text === undefined || !isSecretText(text)) return text;
    const remedy = name.endsWith('_FILE')
      ? 'write the secret to a file of mode 0600, and set the path of that file.'
      : 'use a different value.';
    if (isNew) this.problem(`${this.fullName(name)} looks like a secret, which is not shown: ${remedy}`);
    return undefined;
  }

  integer(name: string, fallback: number, range: IntegerRange): number {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= range.minimum && value <= range.maximum) return value;
    this.problem(
      `${this.#prefix}${name} is "${text}": it must be a whole number from ${range.minimum} to ${range.maximum}.`,
    );
    return fallback;
  }

  oneOf<const T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) {
      this.problem(`${this.#prefix}${name} is "${text}": it must be one of ${choices.join(', ')}.`);
    }
    return choice ?? fallback;
  }

  /** Reads an absolute http(s) URL. Trailing slashes are removed. */
  url(name: string, fallback: string): string {
    return this.optionalUrl(name) ?? fallback;
  }

  optionalUrl(name: string): string | undefined {
    const text = this.optional(name);
    if (text === undefined) return undefined;
    if (holdsPassword(text) || (URL.canParse(text) && new URL(text).username !== '')) {
      this.problem(
        `${this.fullName(name)} contains a user name or a password, so it is not shown: write the URL without them.`,
      );
      return undefined;
    }
    if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
      const meant = text.includes('//') ? undefined : `https://${text}`;
      const hint = meant !== undefined && URL.canParse(meant) ? `, such as ${meant}` : '';
      this.problem(
        `${this.#prefix}${name} is "${text}": it must be a URL that starts with http:// or https://${hint}.`,
      );
      return undefined;
    }
    return text.replace(/\/+$/, '');
  }

  /**
   * Reads a database URL as a secret, because a PostgreSQL URL may contain a password. Problem messages do not show the
   * URL.
   */
  databaseUrl(name: string, fallback: string): Secret<string> {
    const text = this.optional(name) ?? fallback;
    const mistake = text === '' ? undefined : describeDatabaseUrlMistake(text);
    if (mistake !== undefined) this.problem(`${this.fullName(name)}: ${mistake}`);
    return new Secret(text);
  }

  /** Returns the variable's name with the prefix. */
  fullName(name: string): string {
    return this.#prefix + name;
  }

  /** Adds a problem, for example one that involves several variables. Hides values that may be secrets. */
  problem(sentence: string): void {
    const given = Object.entries(this.#environment).filter(([name]) => name.startsWith(this.#prefix));
    const values = given.map(([, value = '']) => value);
    this.#problems.push(hideSecrets(sentence, values));
  }

  /** Reports all problems, including unknown variables with the prefix. @throws ConfigurationError if there are any. */
  finish(): void {
    const problems = [...this.#problems, ...this.#unknownNames()];
    if (problems.length > 0) throw new ConfigurationError(problems);
  }

  /**
   * Alternative to {@link finish} for commands that need only a few settings. Ignores problems with known settings.
   * @throws ConfigurationError that lists all unknown variables
   */
  refuseUnknown(): void {
    const problems = this.#unknownNames();
    if (problems.length > 0) throw new ConfigurationError(problems);
  }

  #unknownNames(): string[] {
    return Object.keys(this.#environment)
      .filter((name) => name.startsWith(this.#prefix))
      .map((name) => name.slice(this.#prefix.length))
      .filter((name) => !this.#known.has(name))
      .map((name) => {
        const meant = nearestName(name, this.#known);
        const advice =
          meant === undefined
            ? 'remove it or correct its spelling.'
            : `did you mean ${this.fullName(meant)}?`;
        return `${this.fullName(name)} is not a setting: ${advice}`;
      });
  }
}
