import { z } from 'zod';
import { type KeyListAnswer, parseKeyListAnswer } from './key-list.js';

/** {@link parseKeyListAnswer} as the shape of a relay's answer. */
export const keyListAnswer = z.unknown().transform((value, context): KeyListAnswer => {
  const answer = parseKeyListAnswer(value);
  if (answer === undefined) {
    context.addIssue({ code: 'custom', message: 'must be a signed key list' });
    return z.NEVER;
  }
  return answer;
});
