import { refused } from '@waxwing/protocol';
import { z } from 'zod';
import { messageFlags } from '../message-flags.js';
import { changeableFlags, type FlagRequest } from './flag-request.js';

/** The `op` and `flag` parameters. */
export const flagParameters = {
  op: z.enum(['add', 'remove'], 'must be add or remove'),
  flag: z.string().max(100),
};

/** Returns the flag, if clients may change it. @throws ProtocolError BAD_REQUEST for unknown or server-only flags. */
export function requireChangeableFlag(flag: string): FlagRequest['flag'] {
  const found = changeableFlags.find((each) => each === flag);
  if (found !== undefined) return found;
  const isFlag = Object.hasOwn(messageFlags, flag) || flag === 'wildcard_mentioned';
  throw refused(isFlag ? `Flag not editable: '${flag}'` : `Invalid message flag: '${flag}'`);
}
