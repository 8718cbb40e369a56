import { integerParameter } from '@waxwing/service/http';
import { z } from 'zod';

/** Code points; what is longer is refused. */
const maximumDescriptionCharacters = 1024;

export const description = z
  .string()
  .refine(
    (text) => [...text].length <= maximumDescriptionCharacters,
    `must have at most ${maximumDescriptionCharacters} characters`,
  );

export const groupIdParameter = integerParameter.brand<'GroupId'>();
