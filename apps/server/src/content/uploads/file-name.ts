/** The name of a file that was uploaded without a usable name. */
const noName = 'uploaded-file';
const maximumShownCharacters = 255;
// A character is at most 4 bytes in UTF-8, so 60 characters fit into the 255 bytes that file systems allow for a name.
const maximumPathCharacters = 60;
const maximumEndingCharacters = 10;

/**
 * Returns the display name of a file. Removes folder names, invisible characters, and characters that change the text
 * direction.
 */
export function shownFileName(given: string): string {
  return [...seenName(given)].slice(0, maximumShownCharacters).join('') || noName;
}

/**
 * Returns the last segment of a file's path. It contains only letters, digits, `.`, `_` and `-`, and never starts or
 * ends with a period.
 */
export function cleanFileName(given: string): string {
  const plain = seenName(given)
    .replace(/\s+/g, '-')
    .replace(/[^\p{L}\p{M}\p{N}._-]/gu, '')
    .replace(/^[.\p{M}-]+|\.+$/gu, '')
    // Must come last: the removals above can make a letter and a combining mark adjacent, and NFC composes these.
    .normalize('NFC');
  const ending = /\.[A-Za-z0-9]+$/.exec(plain)?.[0] ?? '';
  const kept = ending.length > maximumEndingCharacters ? '' : ending;
  const stem = [...plain.slice(0, plain.length - kept.length)].slice(0, maximumPathCharacters - kept.length);
  const name = stem.join('').replace(/\.+$/, '');
  return (name || noName) + kept;
}

function seenName(given: string): string {
  const base = given.split(/[/\\]/).at(-1) ?? '';
  return base
    .replace(/[\p{C}\u2028\u2029]/gu, '')
    .normalize('NFC')
    .trim();
}
