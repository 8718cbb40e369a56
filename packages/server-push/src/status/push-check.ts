import { capitalized } from '../capitalized.js';

/** Result of one check of push, for the admin. */
export interface PushCheck {
  /** Short name, such as `credentials`. */
  readonly check: string;
  readonly ok: boolean;
  /** The result; one sentence. */
  readonly cause: string;
  /** What to do; `null` if nothing is wrong. */
  readonly remedy: string | null;
}

/** A check that found no problem. */
export const passed = (check: string, cause: string): PushCheck => ({
  check,
  ok: true,
  cause,
  remedy: null,
});

/** A check that found a problem. `cause` and `remedy` are sentences. */
export const failed = (check: string, cause: string, remedy: string): PushCheck => ({
  check,
  ok: false,
  cause,
  remedy,
});

/** Makes a sentence from a clause. */
export function sentenceOf(text: string): string {
  return `${capitalized(text)}${text.endsWith('.') ? '' : '.'}`;
}

/** Converts a problem to a check. The part after the last colon says what to do. */
export function asCheck(problem: string, check = 'configuration'): PushCheck {
  const colon = problem.lastIndexOf(': ');
  const [cause, remedy] = colon < 0 ? [problem, ''] : [problem.slice(0, colon), problem.slice(colon + 2)];
  const whatToDo = remedy === '' ? 'Correct the setting.' : capitalized(remedy);
  return { check, ok: false, cause: colon < 0 ? cause : `${cause}.`, remedy: whatToDo };
}
