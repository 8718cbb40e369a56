import { parse, stringify } from 'lossless-json';
import { canHideLongIntegers, parseLongIntegers } from './long-integers.js';

/** A JSON value as we hold it: integers beyond 2^53 are `bigint`, so that no 64-bit id is ever rounded. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Whether a parsed value is an object, not an array and not `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// No id is longer; turning more digits into a bigint takes time that grows with the square of their number.
const integerText = /^-?(?:0|[1-9]\d{0,39})$/;

function parseNumber(text: string): number | bigint {
  const value = Number(text);
  return integerText.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

/**
 * Parses JSON without rounding: an integer of up to 40 digits that a double cannot hold becomes a `bigint`.
 * @throws SyntaxError when the text is not one JSON value.
 */
export function parseJson(text: string): JsonValue {
  try {
    // Only a digit run this long can be an integer that a double would round; the platform's parser is much faster.
    if (!/\d{16}/.test(text)) return JSON.parse(text) as JsonValue;
    if (canHideLongIntegers(text)) return parseLongIntegers(text, parseNumber) as JsonValue;
    return parse(text, null, parseNumber) as JsonValue;
  } catch (cause) {
    throw new SyntaxError('the text is not valid JSON', { cause });
  }
}

/**
 * The JSON value in a text that may be anything; `undefined` when there is none. Parsed by {@link parseJson}, or by
 * `JSON.parse` where no number is an id.
 */
export function parseJsonOrUndefined(
  text: string,
  parse: (text: string) => JsonValue = parseJson,
): JsonValue | undefined {
  try {
    return parse(text);
  } catch {
    // The caller says what it should have been.
    return undefined;
  }
}

/** Compact JSON text; a `bigint` is written as its digits. */
export function stringifyJson(value: JsonValue): string {
  try {
    // The platform's writer is four times as fast, and throws where there is a bigint: to look for one first takes as
    // long as to write.
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
