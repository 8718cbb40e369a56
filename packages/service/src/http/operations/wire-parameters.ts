import { type JsonValue, parseJson } from '@waxwing/protocol';
import { z } from 'zod';

// Parameters arrive as text, whatever they stand for: these say what they stand for, to the parser and to the OpenAPI
// document, which finds it under `openApi` of a schema's metadata.

/** A whole number that a double holds, as its digits. */
export const integerParameter = z
  .string()
  .regex(/^-?\d{1,15}$/, 'must be an integer')
  .transform(Number)
  .meta({ openApi: { type: 'integer' } });

/** `true` or `false`, as JSON writes them. */
export const booleanParameter = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .meta({ openApi: { type: 'boolean' } });

/** Any JSON-encoded value of that shape. Its metadata names the shape, for the OpenAPI document. */
export function jsonParameter<Schema extends z.ZodType>(schema: Schema) {
  return jsonText.pipe(schema as z.ZodType<z.output<Schema>, unknown>).meta({ openApiJson: schema });
}

/** As {@link jsonParameter}, where it may be left out. */
export function optionalJsonParameter<Schema extends z.ZodType>(schema: Schema) {
  return jsonParameter(schema).optional();
}

const jsonText = z.string().transform((text, context): unknown => {
  try {
    const value = parseJson(text);
    if (isStorable(value)) return value;
    context.addIssue({
      code: 'custom',
      message: 'must not contain U+0000, half of a character, or the name __proto__',
    });
  } catch {
    // The caller learns which parameter it was; what the parser said of it would help nobody.
    context.addIssue({ code: 'custom', message: 'must be JSON' });
  }
  return z.NEVER;
});

/** Whether every database keeps all texts in a value, and every object its names: JSON can write others. */
function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return !/[\0\p{Surrogate}]/u.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(
    ([name, part]) => name !== '__proto__' && isStorable(name) && isStorable(part as JsonValue),
  );
}
