import { capitalized } from '../capitalized.js';

/** Result of one push check, shown to the admin. */
export interface PushCheck {
  /** Short name, such as `credentials`. */
  readonly check: string;
  readonly ok: boolean;
  /** The result, as one sentence. */
  readonly cause: string;
  /** What to do; `null` if the check found no problem. */
  readonly remedy: string | null;
}

/** Returns a check that found no problem. */
export const passed = (check: string, cause: string): PushCheck => ({
  check,
  ok: true,
  cause,
  remedy: null,
});

/** Returns a check that found a problem. `cause` and `remedy` are sentences. */
export const failed = (check: string, cause: string, remedy: string): PushCheck => ({
  check,
  ok: false,
  cause,
  remedy,
});

/** Turns a clause into a sentence. */
export function sentenceOf(text: string): string {
  return `${capitalized(text)}${text.endsWith('.') ? '' : '.'}`;
}

/** Converts a problem to a failed check. The part after the last colon is the remedy. */
export function asCheck(problem: string, check = 'configuration'): PushCheck {
  const colon = problem.lastIndexOf(': ');
  const [cause, remedy] = colon < 0 ? [problem, ''] : [problem.slice(0, colon), problem.slice(colon + 2)];
  const whatToDo = remedy === '' ? 'Correct the setting.' : capitalized(remedy);
  return { check, ok: false, cause: colon < 0 ? cause : `${cause}.`, remedy: whatToDo };
}
