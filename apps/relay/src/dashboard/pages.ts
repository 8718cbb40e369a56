import { refused } from '@waxwing/protocol';
import { integerParameter } from '@waxwing/service/http';
import { z } from 'zod';

const usualLimit = 50;
const maximumLimit = 200;

/** Maximum number of entries per page: 1 to 200; the default is 50. */
export const limitParameter = integerParameter
  .pipe(z.number().min(1, 'must be at least 1').max(maximumLimit, `must be at most ${maximumLimit}`))
  .default(usualLimit);

/** Cursor in a list that is ordered by time and id: the last entry of the previous page. */
export interface ListPosition {
  /** Unix milliseconds. */
  readonly at: number;
  readonly id: string;
}

/** Query parameter `after`: the `next` value of the previous page. */
export const positionParameter = z.string().max(60).optional();

export function writePosition({ at, id }: ListPosition): string {
  return `${at}_${id}`;
}

/**
 * Parses a cursor.
 * @param ids pattern of a valid id. Without this check, PostgreSQL would report an error when a query compares a number
 * with a non-numeric string.
 * @throws ProtocolError BAD_REQUEST for an invalid cursor.
 */
export function readPosition(text: string | undefined, ids: RegExp): ListPosition | undefined {
  if (text === undefined) return undefined;
  const [, at = '', id = ''] = /^(\d{1,15})_(.+)$/.exec(text) ?? [];
  if (!ids.test(id)) throw refused('Invalid after: must be the "next" value of the previous page');
  return { at: Number(at), id };
}
