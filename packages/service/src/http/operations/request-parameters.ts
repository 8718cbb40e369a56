import {
  isJsonObject,
  type JsonValue,
  missingArgument,
  ProtocolError,
  parseWithMessages,
  refused,
} from '@waxwing/protocol';
import type { z } from 'zod';
import { type RawParameters, undecodable } from '../bodies/collected-parameters.js';
import { type AnyOperation, pathParameters } from './operation.js';

/** The unparsed parameters of a request: those in its path, and those in its form and query string combined. */
export interface RequestText {
  readonly path: Readonly<Record<string, string>>;
  readonly raw: RawParameters;
}

/** Parses the parameters of one operation. Names and aliases are resolved once, in the constructor. */
export class ParameterReader {
  readonly #shape: z.ZodObject;
  readonly #inPath: ReadonlySet<string>;
  /** Each accepted name, including aliases, with the parameter that it stands for. */
  readonly #known: readonly { readonly sent: string; readonly name: string }[];
  readonly #names: ReadonlySet<string>;
  readonly #hasAliases: boolean;
  /** Parameters for which the string `null` means "not given". */
  readonly #absentIfNull: ReadonlySet<string>;

  constructor({ aliases = {}, parameters, path }: Pick<AnyOperation, 'aliases' | 'parameters' | 'path'>) {
    this.#shape = parameters;
    this.#inPath = new Set(pathParameters(path));
    const names = new Map<string, string>();
    for (const name of Object.keys(parameters.shape)) if (!this.#inPath.has(name)) names.set(name, name);
    for (const [alias, name] of Object.entries(aliases)) names.set(alias, name);
    this.#known = Array.from(names, ([sent, name]) => ({ sent, name }));
    this.#names = new Set(names.keys());
    this.#hasAliases = Object.keys(aliases).length > 0;
    const shapes = Object.entries<z.ZodType>(parameters.shape);
    this.#absentIfNull = new Set(
      shapes.filter(([, shape]) => takes(shape, undefined) && !takes(shape, 'null')).map(([name]) => name),
    );
  }

  /**
   * Checks presence and types in the order of the schema, and rejects the first invalid parameter. Some clients send
   * the string `null` for an optional parameter. That means "not given", unless the parameter's schema accepts the
   * string.
   * @throws ProtocolError REQUEST_VARIABLE_MISSING with `var_name`, REQUEST_CONFUSING_VAR, or BAD_REQUEST
   */
  read({ path, raw }: RequestText): unknown {
    const single: Record<string, string> = {};
    for (const name of this.#inPath) single[name] = requireText(name, path[name] ?? '');
    const sentAs = this.#hasAliases ? new Map<string, string>() : undefined;
    for (const { sent, name } of this.#known) {
      const text = raw.get(sent);
      if (text === undefined) continue;
      if (typeof text !== 'string') throw refused(`Argument '${sent}' was sent more than once`);
      if (text === 'null' && this.#absentIfNull.has(name)) continue;
      const other = sentAs?.get(name);
      if (other !== undefined) throw confusing(other, sent);
      sentAs?.set(name, sent);
      single[name] = requireText(sent, text);
    }
    const parsed = parseWithMessages(this.#shape, single);
    if (parsed.success) return parsed.data;
    throw refusal(single, sentAs, parsed.error);
  }

  /** Returns the names of parameters that the operation does not declare, sorted. */
  ignored(raw: RawParameters): string[] {
    const ignored: string[] = [];
    for (const name of raw.keys()) if (!this.#names.has(name)) ignored.push(name);
    return ignored.sort();
  }
}

/**
 * Validates a JSON body together with the path parameters, which take precedence over fields with the same names.
 * @throws ProtocolError BAD_REQUEST with the name of the first invalid field
 */
export function parseJsonParameters(
  schema: z.ZodObject,
  body: JsonValue,
  path: Readonly<Record<string, string>> = {},
): unknown {
  const inPath = Object.entries(path).map(([name, value]) => [name, requireText(name, value)]);
  const isWhole = inPath.length === 0 || !isJsonObject(body);
  const parsed = parseWithMessages(schema, isWhole ? body : { ...body, ...Object.fromEntries(inPath) });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'request body';
  throw refused(`Invalid ${where}: ${issue?.message ?? 'wrong type'}`);
}

function takes(shape: z.ZodType, value: string | undefined): boolean {
  try {
    return shape.safeParse(value).success;
  } catch (error) {
    // Some schemas throw a ProtocolError with a specific code instead of reporting an issue.
    if (error instanceof ProtocolError) return false;
    throw error;
  }
}

function requireText(name: string, value: string): string {
  if (value === undecodable) throw refused(`Invalid ${name}: must be UTF-8`);
  // PostgreSQL rejects U+0000 in text.
  if (!value.includes('\0')) return value;
  throw refused(`Invalid ${name}: must not contain the character U+0000`);
}

function confusing(one: string, other: string): ProtocolError {
  return new ProtocolError('REQUEST_CONFUSING_VAR', {
    message: `Can't decide between '${one}' and '${other}': send one of them`,
    fields: { var_name1: one, var_name2: other },
  });
}

function refusal(
  single: Record<string, string>,
  sentAs: ReadonlyMap<string, string> | undefined,
  error: z.ZodError,
): ProtocolError {
  const [issue] = error.issues;
  const [first = '', ...inside] = issue?.path ?? [];
  const name = String(first);
  if (!Object.hasOwn(single, name)) return missingArgument(name);
  const place = inside
    .map((step) => (typeof step === 'number' ? `[${step}]` : `["${String(step)}"]`))
    .join('');
  const where = `${sentAs?.get(name) ?? name}${place}`;
  return refused(`Invalid ${where}: ${issue?.message ?? 'wrong type'}`);
}
