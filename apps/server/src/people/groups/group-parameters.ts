import { integerParameter } from '@waxwing/service/http';
import { z } from 'zod';

/** Maximum length of a description, in code points. */
const maximumDescriptionCharacters = 1024;

export const description = z
  .string()
  .refine(
    (text) => [...text].length <= maximumDescriptionCharacters,
    `must have at most ${maximumDescriptionCharacters} characters`,
  );

export const groupIdParameter = integerParameter.brand<'GroupId'>();
