import { channel } from 'node:diagnostics_channel';
import type { ErrorCode } from '@waxwing/protocol';
import type { AnyOperation } from './operation.js';

/**
 * The answer to one request, as published on {@link answerChannelName}. For a streamed list, the answer without entries
 * is published first, followed by each chunk.
 */
export interface PublishedAnswer {
  readonly declared: AnyOperation;
  readonly httpStatus: number;
  /** Error code; `undefined` for a success. */
  readonly code: ErrorCode | undefined;
  /**
   * The fields of a success other than `result` and `msg`. `undefined` for an error, and for a raw answer without known
   * fields.
   */
  readonly fields: unknown;
}

/** Name of the diagnostics channel for answers. */
export const answerChannelName = 'waxwing:answered';

const answers = channel(answerChannelName);

/** Publishes an answer to the subscribers in this process. Calls `answer` only if there are subscribers. */
export function publishAnswer(answer: () => PublishedAnswer): void {
  if (answers.hasSubscribers) answers.publish(answer());
}
