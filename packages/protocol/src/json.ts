import { parse, stringify } from 'lossless-json';
import { canHideLongIntegers, parseLongIntegers } from './long-integers.js';

/** A parsed JSON value. Integers beyond 2^53 are `bigint`, so that 64-bit ids are never rounded. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Returns whether a parsed value is an object and neither an array nor `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Matches integers of up to 40 digits, which is longer than any id. Converting digits to a `bigint` takes quadratic
// time, so an unlimited length would allow denial of service.
const integerText = /^-?(?:0|[1-9]\d{0,39})$/;

function parseNumber(text: string): number | bigint {
  const value = Number(text);
  return integerText.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

/**
 * Parses JSON without rounding: an integer of up to 40 digits that a double cannot represent becomes a `bigint`.
 *
 * @throws SyntaxError if the text is not a single JSON value.
 */
export function parseJson(text: string): JsonValue {
  try {
    // Doubles round only integers with 16 or more digits. If the text has none, the platform's parser is safe and much
    // faster.
    if (!/\d{16}/.test(text)) return JSON.parse(text) as JsonValue;
    if (canHideLongIntegers(text)) return parseLongIntegers(text, parseNumber) as JsonValue;
    return parse(text, null, parseNumber) as JsonValue;
  } catch (cause) {
    throw new SyntaxError('the text is not valid JSON', { cause });
  }
}

/**
 * Returns the line number (starting at 1) of the first syntax error in invalid JSON. For a missing or extra comma, this
 * is the line of the comma, not the line where the parser stops.
 */
export function lineOfJsonMistake(text: string): number {
  const content = text.trimEnd();
  return content.slice(0, offsetOfMistake(content)).split(/\r\n?|\n/).length;
}

function offsetOfMistake(content: string): number {
  try {
    parse(content);
    return 0;
  } catch (error) {
    const { message } = error as Error;
    const offset = Number(/at position (\d+)$/.exec(message)?.[1] ?? 0);
    // A character that can begin or end a value is wrong only because of what precedes it, so the mistake is at the end
    // of the preceding text.
    const isMisplaced = /["\d[\]{}]/.test(content.charAt(offset));
    if (!isMisplaced || message.startsWith('Expected end of input')) return offset;
    return content.slice(0, offset).trimEnd().length;
  }
}

/**
 * Parses untrusted text as JSON. Returns `undefined` if the text is invalid. The default parser is {@link parseJson}.
 * Pass `JSON.parse` if no number in the text can be a 64-bit id.
 */
export function parseJsonOrUndefined(
  text: string,
  parse: (text: string) => JsonValue = parseJson,
): JsonValue | undefined {
  try {
    return parse(text);
  } catch {
    // Safe to ignore: the caller reports that the input is invalid.
    return undefined;
  }
}

/** Writes compact JSON. A `bigint` is written as an integer. */
export function stringifyJson(value: JsonValue): string {
  try {
    // `JSON.stringify` is four times as fast, but throws on a `bigint`. Searching for a `bigint` first would take as
    // long as writing.
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    if (!hasBigint(value)) throw error;
    return stringify(value) ?? 'null';
  }
}

function hasBigint(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  for (const part of Array.isArray(value) ? value : Object.values(value)) if (hasBigint(part)) return true;
  return false;
}
