/** Of a file whose name says nothing. */
const noName = 'uploaded-file';
const maximumShownCharacters = 255;
// Four bytes each at most, and folders take names of 255 bytes.
const maximumPathCharacters = 60;
const maximumEndingCharacters = 10;

/** What a file is called: without folders, and without characters that cannot be seen or that turn what follows around. */
export function shownFileName(given: string): string {
  return [...seenName(given)].slice(0, maximumShownCharacters).join('') || noName;
}

/** The last part of a file's path: letters, digits, `.`, `_` and `-`; it never begins or ends with a full stop. */
export function cleanFileName(given: string): string {
  const plain = seenName(given)
    .replace(/\s+/g, '-')
    .replace(/[^\p{L}\p{M}\p{N}._-]/gu, '')
    .replace(/^[.\p{M}-]+|\.+$/gu, '')
    // Last: letters and marks that stand together now are one letter, as they are when the path is read.
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
