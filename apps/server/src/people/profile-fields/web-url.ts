const maximumUrlCharacters = 2048;

/**
 * Returns whether a string is an absolute http or https URL of at most 2048 characters, without whitespace. Clients
 * render such strings as links.
 */
export function isWebUrl(text: string): boolean {
  return (
    text.length <= maximumUrlCharacters &&
    /^https?:\/\/[^\s\p{Cc}<>"\\/?#]+[^\s\p{Cc}<>"\\]*$/iu.test(text) &&
    URL.canParse(text)
  );
}
