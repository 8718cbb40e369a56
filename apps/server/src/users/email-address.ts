// No colon: an address is the first half of HTTP Basic credentials.
const pattern = /^[^\s@:]+@[^\s@:]+$/;
export const maximumAddressCharacters = 254;

/** Whether a text has the form of an e-mail address that a user can have. */
export function isEmailAddress(text: string): boolean {
  return pattern.test(text) && text.length <= maximumAddressCharacters;
}
