import { channel } from 'node:diagnostics_channel';
import type { ErrorCode } from '@waxwing/protocol';
import type { AnyOperation } from './operation.js';

/**
 * What was answered to one request of an operation, told on the channel `waxwing:answered` while somebody listens. A list
 * that is sent in pieces is told without an entry first, then each piece as if it were the whole.
 */
export interface Answered {
  readonly declared: AnyOperation;
  readonly httpStatus: number;
  /** `undefined` for a success. */
  readonly code: ErrorCode | undefined;
  /** The fields of a success beside `result` and `msg`; `undefined` for a refusal, and where a raw answer does not say. */
  readonly fields: unknown;
}

/** Name of the diagnostics channel on which answers are told. */
export const answeredChannelName = 'waxwing:answered';

const answered = channel(answeredChannelName);

/** Tells listeners in this process of an answer; costs nothing while there are none. */
export function tellAnswered(answer: () => Answered): void {
  if (answered.hasSubscribers) answered.publish(answer());
}
