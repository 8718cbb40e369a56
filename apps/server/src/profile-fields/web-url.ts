const maximumUrlCharacters = 2048;

/** Whether a text is an http or https URL with a host, written out, without blanks. Clients make links of such texts. */
export function isWebUrl(text: string): boolean {
  return (
    text.length <= maximumUrlCharacters &&
    /^https?:\/\/[^\s\p{Cc}<>"\\/?#]+[^\s\p{Cc}<>"\\]*$/iu.test(text) &&
    URL.canParse(text)
  );
}
