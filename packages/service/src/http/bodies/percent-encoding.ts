import { isUtf8 } from 'node:buffer';
import { addParameter, type CollectedParameters, undecodable } from './collected-parameters.js';

const percent = 0x25;
/** Maps each byte to its value as a hexadecimal digit, or -1 if it is not a hexadecimal digit. */
const digitValues = Int8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[0-9a-f]/i.test(character) ? Number.parseInt(character, 16) : -1;
});

/**
 * Decodes UTF-8 and preserves a byte-order mark. Returns `undefined` for invalid bytes, including overlong forms and
 * surrogates.
 */
export function decodeUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/**
 * Percent-decodes a string with one character per byte, according to the URL standard
 * (https://url.spec.whatwg.org/#percent-decode). A `%` that is not followed by two hexadecimal digits stays unchanged.
 * Returns `undefined` if the bytes are not valid UTF-8.
 */
export function percentDecode(text: string): string | undefined {
  // Most strings contain nothing to decode, and a regular expression detects this faster than the loop.
  if (!/[%\x80-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  let length = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    let byte = bytes[index] ?? 0;
    const high = byte === percent ? digitOf(bytes[index + 1]) : -1;
    const low = high < 0 ? -1 : digitOf(bytes[index + 2]);
    if (low >= 0) {
      byte = high * 16 + low;
      index += 2;
    }
    bytes[length++] = byte;
  }
  return decodeUtf8(bytes.subarray(0, length));
}

/**
 * Adds the parameters of a form or query string (https://url.spec.whatwg.org/#urlencoded-parsing). `text` has one
 * character per byte. A value that is not valid UTF-8 becomes {@link undecodable}.
 */
export function addUrlEncoded(into: CollectedParameters, text: string): void {
  for (const part of text.split('&')) {
    if (part === '') continue;
    const spaced = part.replaceAll('+', ' ');
    const end = spaced.indexOf('=');
    const [name, value] = end < 0 ? [spaced, ''] : [spaced.slice(0, end), spaced.slice(end + 1)];
    addParameter(into, percentDecode(name) ?? name, percentDecode(value) ?? undecodable);
  }
}

/**
 * Rewrites the path of a URL so that the router decodes each part like {@link percentDecode}. The router then refuses
 * parts that are not valid UTF-8.
 */
export function rewritePath(url: string): string {
  if (!url.includes('%') || !url.startsWith('/')) return url;
  const [path = ''] = url.split(/[?#]/, 1);
  if (!path.includes('%')) return url;
  const parts = path.split('/').map((part) => {
    const decoded = percentDecode(part);
    return decoded === undefined ? '%ff' : encodeURIComponent(decoded);
  });
  return parts.join('/') + url.slice(path.length);
}

function digitOf(byte: number | undefined): number {
  return byte === undefined ? -1 : (digitValues[byte] ?? -1);
}
