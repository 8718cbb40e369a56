import { domainToUnicode } from 'node:url';
import { exactLookalikes, similarLetters } from './lookalikes.js';
import { systemBotAddressDomain, systemBotNames, systemBots } from './system-bots.js';

/** The email gateway of stock servers. Clients may take it for a bot of the server too. */
const stockBots = { emailgateway: 'Email Gateway' };

/** Pairs of letters that look like one letter in many fonts. */
const pairs: Readonly<Record<string, string>> = { d: 'cl', m: 'rn', w: 'vv' };

/** Groups of letters that look alike in upper or lower case. */
const alike = ['il1|!', 'o0'];

/** Lookalikes of letters that are no letters or digits, such as `!`. They may also separate words. */
const symbols = [...'abcdefghijklmnopqrstuvwxyz']
  .flatMap((letter) => [...lookalikesOf(letter)])
  .filter((each) => !/[\p{L}\p{N}]/u.test(each));
const separators = `[${[...new Set(symbols)].join('')}]*`;
const ignored = new RegExp(`[^\\p{L}\\p{N}${symbols.join('')}]`, 'gu');

const reservedNames = exactly([...Object.values(systemBots), ...Object.values(stockBots)]);
const reservedLocalParts = exactly([...systemBotNames, ...Object.keys(stockBots)]);
const reservedDomain = new RegExp(`${spellingsOf(systemBotAddressDomain)}${separators}$`, 'u');

/**
 * Whether a name looks like one of the server's own bots: in any letter case, script and style, with digits and symbols
 * in place of letters, and with any invisible characters, blanks and punctuation in between.
 */
export function isReservedName(name: string): boolean {
  return looksLike(reservedNames, name);
}

/**
 * Whether an email address looks like one of the server's own bots: its domain is theirs or a subdomain, or its local
 * part is one of theirs at any domain. Spellings count as in {@link isReservedName}.
 */
export function isReservedAddress(address: string): boolean {
  const at = address.lastIndexOf('@');
  const [local = ''] = address.slice(0, at).split('+', 1);
  const domain = address.slice(at + 1);
  return (
    looksLike(reservedLocalParts, local) ||
    [domain, domainToUnicode(domain)].some((form) => looksLike(reservedDomain, form))
  );
}

function exactly(texts: readonly string[]): RegExp {
  return new RegExp(`^${separators}(?:${texts.map(spellingsOf).join('|')})${separators}$`, 'u');
}

/** A regular expression for all lookalike spellings of a text's letters, as {@link looksLike} keeps them. */
function spellingsOf(text: string): string {
  return [...text.toLowerCase()]
    .filter((character) => /[a-z]/.test(character))
    .map((letter) => {
      const pair = [...(pairs[letter] ?? '')].map(anyOf).join(separators);
      return pair === '' ? anyOf(letter) : `(?:${anyOf(letter)}|${pair})`;
    })
    .join(separators);
}

function anyOf(letter: string): string {
  return `[${[...lookalikesOf(letter)].join('')}]`;
}

function lookalikesOf(letter: string): ReadonlySet<string> {
  const group = alike.find((each) => each.includes(letter)) ?? letter;
  const found = [...group].flatMap((each) => [
    ...each,
    ...(exactLookalikes[each] ?? ''),
    ...(exactLookalikes[each.toUpperCase()] ?? ''),
    ...(similarLetters[each] ?? ''),
  ]);
  return new Set(found.map(fold));
}

function looksLike(reserved: RegExp, text: string): boolean {
  return reserved.test(fold(text).replace(ignored, ''));
}

/** Lowercases and removes marks, compatibility forms, signs of a trademark, and invisible characters. */
function fold(text: string): string {
  return text
    .replace(/[™℠]/g, '')
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
}
