/** NUL, which PostgreSQL's text cannot hold, and halves of surrogate pairs, which no encoding of Unicode can. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
export const unstorableCharacters = /[\u0000\ud800-\udfff]/gu;

const maximumReasonLength = 1000;

/** Reasons quote what others sent, which may hold what a database refuses to store as text. */
export function printable(reason: string): string {
  return reason.replace(unstorableCharacters, '\ufffd').slice(0, maximumReasonLength);
}
