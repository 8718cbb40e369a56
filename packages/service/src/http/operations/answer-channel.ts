import { channel } from 'node:diagnostics_channel';
import type { ErrorCode } from '@waxwing/protocol';
import type { AnyOperation } from './operation.js';

/**
 * The answer to one request, as published on {@link answerChannelName}. For a streamed list, the answer without entries
 * is published first, and then each chunk.
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

/** Name of the diagnostics channel on which answers are published. */
export const answerChannelName = 'waxwing:answered';

const answers = channel(answerChannelName);

/** Publishes an answer to subscribers in this process. Does not call `answer` if there are none. */
export function publishAnswer(answer: () => PublishedAnswer): void {
  if (answers.hasSubscribers) answers.publish(answer());
}
