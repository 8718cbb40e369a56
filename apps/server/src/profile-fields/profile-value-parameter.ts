import { z } from 'zod';

const integer = z.number('must be an integer').int('must be an integer');

/** Values for a profile: each a text, a list of users' ids, or null for none. */
export const profileValues = z.array(
  z.object(
    {
      id: integer,
      value: z.union([z.string(), z.array(integer), z.null()], 'must be a text or a list of ids'),
    },
    'must be an object',
  ),
  'must be a list',
);
