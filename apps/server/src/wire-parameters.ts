import { parseJson } from '@waxwing/protocol';
import { z } from 'zod';

/** A whole number that a double holds, as its digits. */
export const integerParameter = z
  .string()
  .regex(/^-?\d{1,15}$/, 'must be an integer')
  .transform(Number);

/** `true` or `false`, as JSON writes them. */
export const booleanParameter = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true');

/** A JSON-encoded array or object. */
export function jsonParameter<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return parseJson(text);
      } catch {
        // The caller learns which parameter it was; what the parser said of it would help nobody.
        context.addIssue({ code: 'custom', message: 'must be JSON' });
        return z.NEVER;
      }
    })
    .pipe(schema);
}
