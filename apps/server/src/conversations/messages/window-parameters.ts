import { refused } from '@waxwing/protocol';
import { booleanParameter, integerParameter, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { Window } from './narrow/find-window.js';
import { narrowShape } from './narrow/narrow-terms.js';

const maximumMessages = 5000;
const words = ['newest', 'oldest', 'first_unread'] as const;

/** The parameters that select a window of messages. */
export const windowParameters = {
  anchor: z
    .string()
    .max(100)
    .regex(/^(?:-?\d+|newest|oldest|first_unread)$/, `must be an id, or one of ${words.join(', ')}`)
    .optional(),
  include_anchor: booleanParameter.default(true),
  num_before: integerParameter.default(0),
  num_after: integerParameter.default(0),
  narrow: optionalJsonParameter(narrowShape),
};

interface Given {
  readonly anchor?: string | undefined;
  readonly include_anchor: boolean;
  readonly num_before: number;
  readonly num_after: number;
}

/**
 * Reads the window from the parameters.
 * @throws ProtocolError BAD_REQUEST if they contradict each other or ask for more than 5000 messages.
 */
export function readWindow({ anchor, include_anchor, num_before, num_after }: Given): Window {
  if (anchor === undefined) throw refused('Missing anchor: give it, or message_ids');
  if (num_before < 0 || num_after < 0) throw refused('num_before and num_after must not be negative');
  if (num_before + num_after > maximumMessages)
    throw refused(`Too many messages requested (maximum ${maximumMessages}).`);
  if (!include_anchor && num_before > 0 && num_after > 0)
    throw refused('The anchor can only be excluded at an end of the range');
  return { anchor: readAnchor(anchor), includesAnchor: include_anchor, before: num_before, after: num_after };
}

function readAnchor(anchor: string): Window['anchor'] {
  const word = words.find((each) => each === anchor);
  if (word !== undefined) return word;
  const id = Number(anchor);
  // Beyond every id, where a double would round to a neighbor.
  if (!Number.isSafeInteger(id)) return id > 0 ? 'newest' : 'oldest';
  return id;
}
