import { z } from 'zod';

/** The color of a subscription, in lower case, as clients expect it. */
export const colorShape = z
  .string('must be a text')
  .regex(/^#[0-9a-f]{6}$/i, 'must be # and six hexadecimal digits')
  .transform((text) => text.toLowerCase());
