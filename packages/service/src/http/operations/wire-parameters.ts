import { type JsonValue, parseJson } from '@waxwing/protocol';
import { z } from 'zod';

// Schemas for parameters, which arrive as text. In a schema's metadata, `openApi` describes its type for the OpenAPI
// document.

/** An integer of at most 15 decimal digits, so that a double represents it exactly. */
export const integerParameter = z
  .string()
  .regex(/^-?\d{1,15}$/, 'must be an integer')
  .transform(Number)
  .meta({ openApi: { type: 'integer' } });

/** `true` or `false`. */
export const booleanParameter = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .meta({ openApi: { type: 'boolean' } });

/** A JSON-encoded value that a schema validates. `openApiJson` in the metadata describes it for the OpenAPI document. */
export function jsonParameter<Schema extends z.ZodType>(schema: Schema) {
  return jsonText.pipe(schema as z.ZodType<z.output<Schema>, unknown>).meta({ openApiJson: schema });
}

/** An optional {@link jsonParameter}. */
export function optionalJsonParameter<Schema extends z.ZodType>(schema: Schema) {
  return jsonParameter(schema).optional();
}

const jsonText = z.string().transform((text, context): unknown => {
  try {
    const value = parseJson(text);
    if (isStorable(value)) return value;
    context.addIssue({
      code: 'custom',
      message: 'must not contain U+0000, an unpaired surrogate, or the name __proto__',
    });
  } catch {
    // The error message already names the parameter, and the JSON parser's message would add nothing.
    context.addIssue({ code: 'custom', message: 'must be JSON' });
  }
  return z.NEVER;
});

/** Whether every database can store all strings in a value, and no object key in the value would set a prototype. */
function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return !/[\0\p{Surrogate}]/u.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(
    ([name, part]) => name !== '__proto__' && isStorable(name) && isStorable(part as JsonValue),
  );
}
