import { z } from 'zod';

/** A colour of a subscription; clients know it in lower case. */
export const colorShape = z
  .string('must be a text')
  .regex(/^#[0-9a-f]{6}$/i, 'must be # and six hexadecimal digits')
  .transform((text) => text.toLowerCase());
