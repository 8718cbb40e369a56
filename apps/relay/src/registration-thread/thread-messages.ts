import type { MessagePort } from 'node:worker_threads';
import type { RegistrationOutcome } from '../registrations/opening/registration-batches.js';
import type { RegistrationToWrite } from '../registrations/write/registration-writer.js';

/** `workerData` of the thread that writes registrations. */
export interface RegistrationThreadData {
  /** URL of the relay's database, which this process also has open in its main thread. */
  readonly databaseUrl: string;
  /** Port for each {@link ThreadAnswer}. */
  readonly answers: MessagePort;
}

export interface WriteOrder {
  readonly registrations: readonly RegistrationToWrite[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** Write orders, to be batched into one commit if possible; or the request to end. */
export type ThreadOrder = readonly WriteOrder[] | 'end';

/** Outcomes of one order, or the error that rolled it back. `isUnavailable`: the database did not answer. */
export type WriteAnswer =
  | { readonly outcomes: readonly RegistrationOutcome[] }
  | { readonly error: Error; readonly isUnavailable: boolean };

/** `ready`: the database is open. An array: one answer per order. `trouble`: a background error. */
export type ThreadAnswer = 'ready' | readonly WriteAnswer[] | { readonly trouble: unknown };
