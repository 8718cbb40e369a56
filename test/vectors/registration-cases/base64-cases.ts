import type { RegistrationVector } from '../../support/protocol-vectors.js';
import { acceptedFcm, base64, fcmPlaintext, refused, sealBytes, textVector } from './registration-case.js';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const doesNotOpen = { box_opens: false };

/**
 * Returns one valid box in different spellings of base64. Only canonical base64 (RFC 4648 section 4), optionally with
 * ASCII whitespace, is valid.
 */
export function base64Cases(): RegistrationVector[] {
  return [...strictnessCases(), ...paddingCases(), ...whitespaceCases()];
}

/** Returns a valid box whose base64 ends with this padding. Adjusts the JSON's length with trailing spaces. */
function boxEndingWith(padding: '' | '=' | '=='): Uint8Array {
  for (const spaces of ['', ' ', '  ']) {
    const box = sealBytes(
      `padded "${padding}"`,
      new TextEncoder().encode(fcmPlaintext().replace('}', `${spaces}}`)),
    );
    if (box.length % 3 === (3 - padding.length) % 3) return box;
  }
  throw new Error('One of three consecutive lengths has every remainder.');
}

function strictnessCases(): RegistrationVector[] {
  const text = base64(boxEndingWith(''));
  const middle = text.length / 2;
  const withInside = (inserted: string) => text.slice(0, middle) + inserted + text.slice(middle);
  const refusals: [string, string][] = [
    ['url-safe alphabet', text.replaceAll('+', '-').replaceAll('/', '_')],
    ['exclamation mark inside', withInside('!')],
    ['no-break space inside', withInside('\u00a0')],
    ['full-width letter instead of an ASCII one', text.replace(/[A-Z]/, 'Ａ')],
    ['hexadecimal', Buffer.from(text, 'base64').toString('hex')],
    ['quoted as a JSON string', `"${text}"`],
    ['one letter too few', text.slice(0, -1)],
    ['one letter too many', `${text}A`],
  ];
  if (!text.includes('+') || !text.includes('/'))
    throw new Error('The url-safe case needs a box with + and /.');
  return refusals.map(([name, encrypted]) =>
    textVector(`base64: ${name}`, encrypted, refused(), doesNotOpen),
  );
}

function paddingCases(): RegistrationVector[] {
  const unpadded = base64(boxEndingWith(''));
  const single = base64(boxEndingWith('='));
  const double = base64(boxEndingWith('=='));
  const box = boxEndingWith('');
  const refusals: [string, string][] = [
    ['stray bits before one padding character', withStrayBits(single, 1)],
    ['stray bits before two padding characters', withStrayBits(double, 2)],
    ['missing padding, one character', single.slice(0, -1)],
    ['missing padding, two characters', double.slice(0, -2)],
    ['half of the padding missing', double.slice(0, -1)],
    ['padding too many', `${unpadded}====`],
    ['padding inside', base64(box.slice(0, 31)) + base64(box.slice(31))],
    ['padding alone', '===='],
  ];
  return [
    textVector('base64: no padding needed', unpadded, acceptedFcm()),
    textVector('base64: one padding character', single, acceptedFcm()),
    textVector('base64: two padding characters', double, acceptedFcm()),
    ...refusals.map(([name, encrypted]) => textVector(`base64: ${name}`, encrypted, refused(), doesNotOpen)),
  ];
}

/** Returns the text with the lowest bit of the last character set. In canonical base64, this bit is zero. */
function withStrayBits(text: string, paddingCharacters: number): string {
  const last = text.length - paddingCharacters - 1;
  const letter = alphabet[alphabet.indexOf(text.charAt(last)) + 1];
  return `${text.slice(0, last)}${letter}${text.slice(last + 1)}`;
}

function whitespaceCases(): RegistrationVector[] {
  const text = base64(boxEndingWith('=='));
  const note = 'some encoders break lines; ASCII whitespace is dropped before the check';
  return [
    textVector('base64: lines of 76 characters', text.replace(/.{76}/g, '$&\r\n'), acceptedFcm(), { note }),
    textVector('base64: spaces, tabs and form feeds', text.replace(/.{9}/g, '$& \t\f'), acceptedFcm(), {
      note,
    }),
    textVector('base64: newline before and after', `\n${text}\n`, acceptedFcm(), { note }),
    textVector('base64: newline between padding characters', text.replace('==', '=\n='), acceptedFcm(), {
      note,
    }),
    textVector('base64: whitespace alone', ' \r\n', refused(), doesNotOpen),
  ];
}
