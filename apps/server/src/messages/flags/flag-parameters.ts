import { refused } from '@waxwing/protocol';
import { z } from 'zod';
import { messageFlags } from '../message-flags.js';
import { changeableFlags, type FlagWish } from './flag-wish.js';

/** What is to become of which flag. */
export const flagParameters = {
  op: z.enum(['add', 'remove'], 'must be add or remove'),
  flag: z.string().max(100),
};

/** @throws ProtocolError BAD_REQUEST for words that name no flag, and for flags that only the server changes. */
export function requireChangeableFlag(flag: string): FlagWish['flag'] {
  const found = changeableFlags.find((each) => each === flag);
  if (found !== undefined) return found;
  const isFlag = Object.hasOwn(messageFlags, flag) || flag === 'wildcard_mentioned';
  throw refused(isFlag ? `Flag not editable: '${flag}'` : `Invalid message flag: '${flag}'`);
}
