import type { MessagePort } from 'node:worker_threads';
import type { RegistrationOutcome } from '../registrations/opening/registration-batches.js';
import type { RegistrationToWrite } from '../registrations/write/registration-writer.js';

/** What the thread that writes registrations is given when it starts. */
export interface RegistrationThreadData {
  /** Of the relay's database, which is open elsewhere in this process. */
  readonly databaseUrl: string;
  /** Where each {@link ThreadAnswer} goes. */
  readonly answers: MessagePort;
}

export interface WriteOrder {
  readonly registrations: readonly RegistrationToWrite[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** What is to be committed together if it can, in turn; or the end. */
export type ThreadOrder = readonly WriteOrder[] | 'end';

/** What became of one order, or why nothing of it was kept; `isUnavailable` where the database did not answer. */
export type WriteAnswer =
  | { readonly outcomes: readonly RegistrationOutcome[] }
  | { readonly error: Error; readonly isUnavailable: boolean };

/** It has opened the database; or it has done what it was told; or something went wrong in the background. */
export type ThreadAnswer = 'ready' | readonly WriteAnswer[] | { readonly trouble: unknown };
