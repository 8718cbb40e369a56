/** So many bytes say what a picture is. */
export const imageHeadBytes = 16;

/** What a picture of each type begins with; `?` stands for any byte. */
const beginnings: readonly (readonly [type: string, begins: string])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/webp', 'RIFF????WEBPVP8'],
];

/** The type of a picture by its first bytes, whatever its sender says of it; `undefined` for everything else. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1', 0, imageHeadBytes);
  const isBegun = (begins: string) =>
    [...begins].every((letter, at) => letter === '?' || text[at] === letter);
  return beginnings.find(([, begins]) => isBegun(begins))?.[0];
}
