import { z } from 'zod';

/** Parameter for a language tag such as `en` or `pt-br`, plain or as a JSON string. */
export const languageTag = z
  .string()
  .overwrite((text) => text.replace(/^"(.*)"$/s, '$1'))
  .refine((text) => /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,3}$/.test(text), 'must be a language tag')
  .meta({ openApi: { type: 'string' } });
