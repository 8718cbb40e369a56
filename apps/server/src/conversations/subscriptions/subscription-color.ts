import { z } from 'zod';

/** Parameter for the color of a subscription. Converts it to lower case, as clients expect. */
export const colorShape = z
  .string('must be a string')
  .regex(/^#[0-9a-f]{6}$/i, 'must be # and six hexadecimal digits')
  .transform((text) => text.toLowerCase());
