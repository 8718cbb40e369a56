import { z } from 'zod';
import { type KeyListAnswer, parseKeyListAnswer } from './key-list.js';

/** The fields of a key list response other than `result` and `msg`. */
export const keyListFields = z.object({
  key_list: z.string(),
  signature: z.string(),
  signing_public_key: z.string(),
});

/** Zod schema for the relay's response. Parses it with {@link parseKeyListAnswer}. */
export const keyListAnswer = z.unknown().transform((value, context): KeyListAnswer => {
  const answer = parseKeyListAnswer(value);
  if (answer === undefined) {
    context.addIssue({ code: 'custom', message: 'must be a signed key list' });
    return z.NEVER;
  }
  return answer;
});
