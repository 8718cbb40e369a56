/** Number of leading bytes needed to detect an image type. */
export const imageHeadBytes = 16;

/** The signature (first bytes) of each image type. `?` matches any byte. */
const beginnings: readonly (readonly [type: string, begins: string])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/webp', 'RIFF????WEBPVP8'],
];

/** Detects the media type of an image from its first bytes. Returns `undefined` for unsupported types. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1', 0, imageHeadBytes);
  const isBegun = (begins: string) =>
    [...begins].every((letter, at) => letter === '?' || text[at] === letter);
  return beginnings.find(([, begins]) => isBegun(begins))?.[0];
}
