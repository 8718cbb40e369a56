import { z } from 'zod';
import { possibleId } from '../permissions/id-lists.js';

/** Profile values: each a text, a list of user ids, or null to remove it. */
export const profileValues = z.array(
  z.object(
    {
      id: possibleId,
      value: z.union([z.string(), z.array(possibleId), z.null()], 'must be a text or a list of ids'),
    },
    'must be an object',
  ),
  'must be a list',
);
