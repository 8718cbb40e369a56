/** Matches NUL, which PostgreSQL's `text` rejects, and unpaired surrogates, which UTF-8 cannot encode. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what this matches.
export const unstorableCharacters = /[\u0000\ud800-\udfff]/gu;

const maximumReasonLength = 1000;

/**
 * Makes a reason storable: replaces unstorable characters and truncates to 1000 code units. Needed because a reason may
 * quote text from a peer.
 */
export function printable(reason: string): string {
  return reason.replace(unstorableCharacters, '\ufffd').slice(0, maximumReasonLength);
}
