import { z } from 'zod';
import { possibleId } from '../permissions/id-lists.js';

/**
 * Parameter for profile values. Each value is a string, a list of user ids, or null, which removes the stored value.
 */
export const profileValues = z.array(
  z.object(
    {
      id: possibleId,
      value: z.union([z.string(), z.array(possibleId), z.null()], 'must be a string or a list of ids'),
    },
    'must be an object',
  ),
  'must be a list',
);
