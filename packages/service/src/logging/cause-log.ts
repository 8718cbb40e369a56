import type { Log } from './create-logger.js';

/** The messages for the first line about a cause and for the lines with counts. */
interface CauseWords {
  readonly first: string;
  readonly more: string;
}

export interface CauseLogOptions<Cause extends object> {
  readonly log: Log;
  readonly words: CauseWords;
  levelOf(cause: Cause): 'error' | 'info';
  /** Returns a more general cause, which counts `cause` once too many different causes have occurred. */
  other(cause: Cause): Cause;
}

interface Noted<Cause> {
  readonly cause: Cause;
  /** Number of occurrences since the last line. */
  count: number;
}

const intervalMilliseconds = 60_000;
// Bounded: causes may contain text from other systems, which can send any number of different texts.
const maximumCauses = 100;

/**
 * Logs frequent events without flooding the log. The first occurrence of each cause is logged immediately with its
 * details. Further occurrences are logged as a count, in one line per minute.
 */
export class CauseLog<Cause extends object> {
  readonly #options: CauseLogOptions<Cause>;
  readonly #noted = new Map<string, Noted<Cause>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CauseLogOptions<Cause>) {
    this.#options = options;
  }

  /**
   * Counts an occurrence. Returns whether it was logged immediately. `details` describe only this occurrence, and
   * override fields of the cause.
   */
  note(exact: Cause, details: object): boolean {
    const { log, words, levelOf, other } = this.#options;
    const isFull = this.#noted.size >= maximumCauses && !this.#noted.has(keyOf(exact));
    const cause = isFull ? other(exact) : exact;
    const known = this.#noted.get(keyOf(cause));
    if (known !== undefined) {
      known.count += 1;
      return false;
    }
    this.#noted.set(keyOf(cause), { cause, count: 0 });
    const line: object = { ...cause, ...details };
    log[levelOf(cause)](line, words.first);
    this.#timer ??= setInterval(() => this.flush(), intervalMilliseconds).unref();
    return true;
  }

  /**
   * Logs the count of each cause since the last flush. A cause that has not occurred since then will be logged
   * immediately the next time it occurs.
   */
  flush(): void {
    const { log, words, levelOf } = this.#options;
    for (const [key, noted] of this.#noted) {
      const { cause, count } = noted;
      const line: object = { ...cause, count };
      if (count === 0) this.#noted.delete(key);
      else log[levelOf(cause)](line, words.more);
      noted.count = 0;
    }
    if (this.#noted.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function keyOf(cause: object): string {
  return JSON.stringify(Object.values(cause));
}
