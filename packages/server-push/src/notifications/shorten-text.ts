const ellipsis = '…';
const ellipsisBytes = 3;

/** Shortens a string to `maximum` Unicode code points. If anything was removed, appends an ellipsis. */
export function shortenToCodePoints(text: string, maximum: number): string {
  // A code point has at least one UTF-16 unit, so there is no need to count the code points of a string this short.
  if (text.length <= maximum) return text;
  let units = 0;
  let count = 0;
  for (const codePoint of text) {
    if (count === maximum) return text.slice(0, units) + ellipsis;
    units += codePoint.length;
    count += 1;
  }
  return text;
}

/**
 * Shortens a string between code points. Its JSON encoding, without quotes but with the ellipsis, is then at most
 * `maximum` bytes of UTF-8. Returns an empty string if not even the ellipsis fits.
 */
export function shortenToJsonBytes(text: string, maximum: number): string {
  let bytes = 0;
  let units = 0;
  let unitsBeforeEllipsis = 0;
  for (const codePoint of text) {
    bytes += jsonBytes(codePoint);
    if (bytes > maximum) {
      return maximum < ellipsisBytes ? '' : text.slice(0, unitsBeforeEllipsis) + ellipsis;
    }
    units += codePoint.length;
    if (bytes + ellipsisBytes <= maximum) unitsBeforeEllipsis = units;
  }
  return text;
}

/**
 * Returns the size of a string's JSON encoding in UTF-8 bytes, without quotes, as `JSON.stringify` escapes it (RFC 8259
 * section 7).
 */
export function jsonStringBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text), 'utf8') - 2;
}

function jsonBytes(codePoint: string): number {
  const value = codePoint.codePointAt(0) ?? 0;
  if (value >= 0x20 && value < 0x80) return value === 0x22 || value === 0x5c ? 2 : 1;
  return jsonStringBytes(codePoint);
}
