import { refused } from '@waxwing/protocol';
import { integerParameter } from '@waxwing/service/http';
import { z } from 'zod';

const usualLimit = 50;
const maximumLimit = 200;

/** How many entries of a list to answer with: 1 to 200, by default 50. */
export const limitParameter = integerParameter
  .pipe(z.number().min(1, 'must be at least 1').max(maximumLimit, `must be at most ${maximumLimit}`))
  .default(usualLimit);

/** A place in a list that is ordered by time and id: the last entry of the page before. */
export interface ListPosition {
  /** Unix milliseconds. */
  readonly at: number;
  readonly id: string;
}

/** The `next` of a page, which its client sends as `after`. */
export const positionParameter = z.string().max(60).optional();

export function writePosition({ at, id }: ListPosition): string {
  return `${at}_${id}`;
}

/** @throws ProtocolError BAD_REQUEST for a text that no page had as its `next`. */
export function readPosition(text: string | undefined): ListPosition | undefined {
  if (text === undefined) return undefined;
  const [, at = '', id = ''] = /^(\d{1,15})_([0-9a-f-]{1,36})$/.exec(text) ?? [];
  if (id === '') throw refused('Invalid after: must be the "next" of a page');
  return { at: Number(at), id };
}
