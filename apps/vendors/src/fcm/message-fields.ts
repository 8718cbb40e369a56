import { isObject } from '../json-web-token.js';

/** A problem with a message. */
export interface MessageProblem {
  readonly message: string;
  /** Path of the invalid field. */
  readonly field: string;
  /** Whether FCM itself detects the problem, not its JSON parser. If so, the response has an FcmError. */
  readonly isFcmError: boolean;
}

export type Json = Readonly<Record<string, unknown>>;

export const maximumDataBytes = 4096;

/** Checks that `data` has only string values and no reserved keys, and is at most `maximumBytes` in total. */
export function checkData(data: unknown, path: string, maximumBytes: number): MessageProblem | undefined {
  if (!isSet(data)) return undefined;
  if (!isObject(data)) return wrongType(path, 'Map', data);
  let bytes = 0;
  for (const [index, [key, value]] of Object.entries(data).entries()) {
    if (typeof value !== 'string') return wrongType(`${path}[${index}].value`, 'TYPE_STRING', value);
    if (isReservedKey(key)) return problem(path, `Invalid data payload key: ${key}`);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  return bytes > maximumBytes ? problem(path, 'Android message is too big') : undefined;
}

function isReservedKey(key: string): boolean {
  return (
    key === 'from' ||
    key === 'message_type' ||
    key.startsWith('google.') ||
    key.startsWith('gcm.notification.')
  );
}

/** Reads a field by its snake_case or its lowerCamelCase name, as Google's JSON parser does. */
export function read(object: Json, name: string): unknown {
  return object[name] ?? object[name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())];
}

export function findUnknownField(
  object: Json,
  known: ReadonlySet<string>,
  prefix: string,
): MessageProblem | undefined {
  for (const name of Object.keys(object)) {
    if (known.has(name)) continue;
    if (known.has(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))) continue;
    const place = prefix === '' ? '' : ` at '${prefix.slice(0, -1)}'`;
    const message = `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`;
    return { message, field: prefix.slice(0, -1), isFcmError: false };
  }
  return undefined;
}

export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function wrongType(field: string, type: string, value: unknown): MessageProblem {
  const shown = JSON.stringify(value).slice(0, 100);
  return { message: `Invalid value at '${field}' (${type}), ${shown}`, field, isFcmError: false };
}

export function problem(field: string, message: string): MessageProblem {
  return { message, field, isFcmError: true };
}
