import { ProtocolError } from '@waxwing/protocol';
import type { z } from 'zod';

/** Parameters of one request, by name; a repeated one holds all of its values. */
export type RawParameters = ReadonlyMap<string, readonly string[]>;

/** Adds what one source (form, multipart form, query string) holds. */
export function collectParameters(
  into: Map<string, string[]>,
  source: Iterable<readonly [string, string | readonly string[]]>,
): void {
  for (const [name, value] of source) {
    const values = into.get(name) ?? [];
    into.set(name, values.concat(value));
  }
}

/**
 * Presence and types, in the schema's order: the first wrong parameter is refused.
 * @throws ProtocolError REQUEST_VARIABLE_MISSING with `var_name`, or BAD_REQUEST.
 */
export function parseParameters<S extends z.ZodObject>(schema: S, raw: RawParameters): z.infer<S> {
  const single: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const values = raw.get(name);
    if (values === undefined) continue;
    if (values.length > 1) {
      throw new ProtocolError('BAD_REQUEST', { message: `Argument '${name}' was sent more than once` });
    }
    const value = values[0] ?? '';
    // PostgreSQL takes no text with it, and no parameter needs it.
    if (value.includes('\0')) {
      throw new ProtocolError('BAD_REQUEST', {
        message: `Invalid ${name}: must not contain the character U+0000`,
      });
    }
    single[name] = value;
  }
  const parsed = schema.safeParse(single);
  if (parsed.success) return parsed.data;
  throw refusal(single, parsed.error);
}

/** The parameters that the schema does not name, in the order they came. */
export function unsupportedParameters(schema: z.ZodObject | undefined, raw: RawParameters): string[] {
  return [...raw.keys()].filter((name) => !Object.hasOwn(schema?.shape ?? {}, name));
}

function refusal(single: Record<string, string>, error: z.ZodError): ProtocolError {
  const issue = error.issues[0];
  const name = String(issue?.path[0] ?? '');
  if (!Object.hasOwn(single, name)) {
    return new ProtocolError('REQUEST_VARIABLE_MISSING', {
      message: `Missing '${name}' argument`,
      fields: { var_name: name },
    });
  }
  return new ProtocolError('BAD_REQUEST', { message: `Invalid ${name}: ${issue?.message ?? 'wrong type'}` });
}
