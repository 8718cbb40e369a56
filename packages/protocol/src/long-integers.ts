/**
 * Prefix of a hidden integer's digits. {@link canHideLongIntegers} excludes texts that contain this character or any
 * `\u` escape. It is a Latin-1 character, because any character outside Latin-1 would double the text's memory and
 * parsing time.
 */
const mark = '\u007f';
const firstDigits = 16;
const longInteger = /(^|[\s:,[])(-?[1-9]\d{15,})(?=\s*(?:[,}\]]|$))/g;

/** Parses JSON with the platform's parser, but converts integers of 16 or more digits with `parseInteger`. */
export function parseLongIntegers(text: string, parseInteger: (digits: string) => number | bigint): unknown {
  return reveal(JSON.parse(hideLongIntegers(text)), parseInteger);
}

/**
 * Returns whether {@link parseLongIntegers} is safe for a text, that is, whether no string in the text can look like a
 * hidden integer.
 */
export function canHideLongIntegers(text: string): boolean {
  return !text.includes(mark) && !text.includes('\\u');
}

/** Replaces long integers in JSON with marked strings. Invalid JSON stays invalid. */
function hideLongIntegers(text: string): string {
  let result = '';
  let copiedTo = 0;
  let from = 0;
  while (from < text.length) {
    const quote = text.indexOf('"', from);
    const until = quote < 0 ? text.length : quote;
    if (until - from >= firstDigits) {
      const outside = text.slice(from, until);
      const hidden = outside.replace(longInteger, `$1"${mark}$2"`);
      if (hidden !== outside) {
        result += text.slice(copiedTo, from) + hidden;
        copiedTo = until;
      }
    }
    from = quote < 0 ? text.length : endOfString(text, quote);
  }
  return result + text.slice(copiedTo);
}

/** Returns the position after the string that begins at `start`, or the end of the text if the string is not closed. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

function isEscaped(text: string, position: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(position - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}

function reveal(value: unknown, parseInteger: (digits: string) => number | bigint): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? parseInteger(value.slice(1)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = reveal(value[index], parseInteger);
    return value;
  }
  // Freshly parsed objects have no inherited enumerable properties.
  const object = value as Record<string, unknown>;
  for (const name in object) {
    const inner = object[name];
    const revealed = reveal(inner, parseInteger);
    // A plain assignment to `__proto__` would set the prototype instead of creating a property.
    if (name === '__proto__') Object.defineProperty(object, name, { value: revealed });
    else if (revealed !== inner) object[name] = revealed;
  }
  return value;
}
