import type { MessagePort } from 'node:worker_threads';
import type { RegistrationOutcome } from '../registrations/opening/registration-batches.js';
import type { RegistrationToWrite } from '../registrations/write/registration-writer.js';

/** `workerData` of the thread that writes registrations. */
export interface RegistrationThreadData {
  /** URL of the relay's database. The main thread of this process also has the database open. */
  readonly databaseUrl: string;
  /** Port on which the thread sends each {@link ThreadAnswer}. */
  readonly answers: MessagePort;
}

export interface WriteOrder {
  readonly registrations: readonly RegistrationToWrite[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** A message to the thread: write orders, which it stores in one commit if possible, or the request to end. */
export type ThreadOrder = readonly WriteOrder[] | 'end';

/**
 * Outcomes of one order, or the error that rolled the order back. `isUnavailable` means that the database did not
 * answer.
 */
export type WriteAnswer =
  | { readonly outcomes: readonly RegistrationOutcome[] }
  | { readonly error: Error; readonly isUnavailable: boolean };

/**
 * A message from the thread: `ready` when the database is open, an array with one answer per order, or a background
 * error.
 */
export type ThreadAnswer = 'ready' | readonly WriteAnswer[] | { readonly trouble: unknown };
