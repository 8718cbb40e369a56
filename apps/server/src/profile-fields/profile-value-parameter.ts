import { z } from 'zod';
import { possibleId } from '../permissions/id-lists.js';

/** Values for a profile: each a text, a list of users' ids, or null for none. */
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
