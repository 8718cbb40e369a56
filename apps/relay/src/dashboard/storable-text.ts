import { unstorableCharacters } from '@waxwing/jobs';
import { z } from 'zod';

/** A string in a JSON body that every database can store. */
export const storableText = z
  .string()
  .refine(
    (text) => text.search(unstorableCharacters) < 0,
    'must not contain the character U+0000 or an unpaired surrogate',
  );
