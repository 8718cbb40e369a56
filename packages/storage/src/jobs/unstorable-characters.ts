/** NUL, which PostgreSQL's text cannot hold, and halves of surrogate pairs, which no encoding of Unicode can. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
export const unstorableCharacters = /[\u0000\ud800-\udfff]/gu;
