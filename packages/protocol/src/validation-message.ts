import type { z } from 'zod';

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  bigint: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const formNames: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a web address',
  email: 'an e-mail address',
  datetime: 'an instant such as 2026-01-31T00:00:00Z',
};
/** Maximum number of input keys that a message quotes, and maximum length of each key. */
const maximumNamedKeys = 3;
const maximumKeyCharacters = 50;

/**
 * Parses a value. Replaces zod's messages, which are written for programmers, with messages for users. Each message
 * completes a sentence that starts with the name of the value. Messages in the schema take precedence. Invalid values
 * are parsed twice.
 */
export function parseWithMessages<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  // First parses without the error map, which would make zod four times as slow for valid values.
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : schema.safeParse(value, { error: validationMessage });
}

function validationMessage(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code.startsWith('invalid_')) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? 'of another type'}`;
    case 'invalid_value':
      return oneOf(issue.values.map(String));
    case 'invalid_format':
      return issue.format in formNames ? `must be ${formNames[issue.format]}` : 'has the wrong form';
    case 'too_big':
      return size(issue.origin, Number(issue.maximum), 'at most');
    case 'too_small':
      return size(issue.origin, Number(issue.minimum), 'at least');
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `must not have ${issue.keys
        .slice(0, maximumNamedKeys)
        .map((key) => key.slice(0, maximumKeyCharacters))
        .join(', ')}`;
    default:
      return 'has the wrong form';
  }
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`;
}

function size(origin: string, limit: number, bound: 'at most' | 'at least'): string {
  if (origin === 'string') return `must have ${bound} ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${limit} entries`;
  return `must be ${bound} ${limit}`;
}
