import { refused } from '@waxwing/protocol';
import { booleanParameter, integerParameter, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { Window } from './narrow/find-window.js';
import { narrowShape } from './narrow/narrow-terms.js';

const maximumMessages = 5000;
const words = ['newest', 'oldest', 'first_unread'] as const;
/** An ISO 8601 date, or date and time. Without an offset, the time is UTC. */
const isoTime = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** The parameters that select a window of messages. */
export const windowParameters = {
  anchor: z
    .string()
    .max(100)
    .regex(
      /^(?:-?\d+|newest|oldest|first_unread|date)$/,
      `must be an id, or one of ${words.join(', ')}, date`,
    )
    .optional(),
  /** For the anchor `date`: the oldest message sent at or after this date is the anchor. */
  anchor_date: z.string().max(100).optional(),
  include_anchor: booleanParameter.default(true),
  num_before: integerParameter.default(0),
  num_after: integerParameter.default(0),
  narrow: optionalJsonParameter(narrowShape),
};

interface Given {
  readonly anchor?: string | undefined;
  readonly anchor_date?: string | undefined;
  readonly include_anchor: boolean;
  readonly num_before: number;
  readonly num_after: number;
}

/**
 * Reads the window from the parameters.
 * @throws ProtocolError BAD_REQUEST if they contradict each other or request more than 5000 messages.
 */
export function readWindow(given: Given): Window {
  const { anchor, anchor_date, include_anchor, num_before, num_after } = given;
  if (anchor === undefined) throw refused('Missing anchor: specify anchor or message_ids');
  if (num_before < 0 || num_after < 0) throw refused('num_before and num_after must not be negative');
  if (num_before + num_after > maximumMessages)
    throw refused(`Too many messages requested (maximum ${maximumMessages}).`);
  if (!include_anchor && num_before > 0 && num_after > 0)
    throw refused('The anchor can only be excluded at an end of the range');
  const from = anchor === 'date' ? { since: readDate(anchor_date) } : readAnchor(anchor);
  return { anchor: from, includesAnchor: include_anchor, before: num_before, after: num_after };
}

function readDate(text: string | undefined): number {
  if (text === undefined) throw refused('Missing anchor_date: the anchor "date" requires it');
  const match = isoTime.exec(text.trim());
  const needsZone = match !== null && match[0].length > 10 && match[1] === undefined;
  const instant =
    match === null ? Number.NaN : Date.parse(`${match[0].replace(' ', 'T')}${needsZone ? 'Z' : ''}`);
  if (Number.isNaN(instant)) throw refused('Invalid anchor_date: must be an ISO 8601 date or time');
  return instant;
}

function readAnchor(anchor: string): Window['anchor'] {
  const word = words.find((each) => each === anchor);
  if (word !== undefined) return word;
  const id = Number(anchor);
  // Unsafe integers are greater than any message id, and a double would round them to a neighbor.
  if (!Number.isSafeInteger(id)) return id > 0 ? 'newest' : 'oldest';
  return id;
}
