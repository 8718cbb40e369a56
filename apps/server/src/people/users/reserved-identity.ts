import { domainToUnicode } from 'node:url';
import { exactLookalikes, similarLetters } from './lookalikes.js';
import { systemBotAddressDomain, systemBotNames, systemBots } from './system-bots.js';

/** The email gateway of stock servers. Clients may take it for a bot of the server too. */
const stockBots = { emailgateway: 'Email Gateway' };

/** Pairs of letters that look like one letter in many fonts. */
const pairs: Readonly<Record<string, string>> = { d: 'cl', m: 'rn', w: 'vv' };

/** Groups of letters that look alike in upper or lower case. */
const alike = ['il1|!', 'o0'];

/** Lookalikes of letters that are themselves neither letters nor digits, such as `!`. They may also separate words. */
const symbols = [...'abcdefghijklmnopqrstuvwxyz']
  .flatMap((letter) => [...lookalikesOf(letter)])
  .filter((each) => !/[\p{L}\p{N}]/u.test(each));
const separators: ReadonlySet<string> = new Set(symbols.flatMap((each) => [...each]));
const ignored = new RegExp(`[^\\p{L}\\p{N}${symbols.join('')}]`, 'gu');

const reservedNames = [...Object.values(systemBots), ...Object.values(stockBots)].map(spellingsOf);
const reservedLocalParts = [...systemBotNames, ...Object.keys(stockBots)].map(spellingsOf);
const reservedDomain = [movesOf(systemBotAddressDomain)];

/**
 * Whether a name looks like one of the server's own bots: in any letter case, script and style, with digits and symbols
 * instead of letters, in the plural, and with any invisible characters, blanks and punctuation in between.
 */
export function isReservedName(name: string): boolean {
  return looksLike(reservedNames, name);
}

/**
 * Whether an email address looks like one of the server's own bots: its domain is theirs or a subdomain, or its local
 * part is one of theirs at any domain. Considers the same spellings as {@link isReservedName}.
 */
export function isReservedAddress(address: string): boolean {
  const at = address.lastIndexOf('@');
  const [local = ''] = address.slice(0, at).split('+', 1);
  const domain = address.slice(at + 1);
  return (
    looksLike(reservedLocalParts, local) ||
    [domain, domainToUnicode(domain)].some((form) => looksLike(reservedDomain, form, { isSuffix: true }))
  );
}

/** The spellings of a bot's name, including the plural. */
function spellingsOf(name: string): Spellings {
  return movesOf(name, 's');
}

/** A step in reading a text: one of these characters leads to the state with this index. */
interface Move {
  readonly among: ReadonlySet<string>;
  readonly to: number;
}

/** The moves from each state of a reserved text's spellings; the last state means that all letters were read. */
type Spellings = readonly (readonly Move[])[];

/**
 * All lookalike spellings of a text's letters. Each word may also end with `ending`. Read in linear time: a regular
 * expression would backtrack for hours.
 */
function movesOf(text: string, ending = ''): Spellings {
  const states: Move[][] = [[]];
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    for (const letter of word) {
      const from = states.length - 1;
      const [first, second] = pairs[letter] ?? '';
      if (first !== undefined && second !== undefined) {
        states[from]?.push({ among: charactersOf(first), to: from + 1 });
        states.push([{ among: charactersOf(second), to: from + 2 }]);
      }
      states[from]?.push({ among: charactersOf(letter), to: states.length });
      states.push([]);
    }
    const end = states.length - 1;
    for (const letter of ending) states[end]?.push({ among: charactersOf(letter), to: end });
  }
  return states;
}

function charactersOf(letter: string): ReadonlySet<string> {
  return new Set([...lookalikesOf(letter)].flatMap((each) => [...each]));
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

/** Whether the text looks like a reserved one. With `isSuffix`, it only has to end like one. */
function looksLike(reserved: readonly Spellings[], text: string, { isSuffix = false } = {}): boolean {
  const characters = [...fold(text).replace(ignored, '')];
  return reserved.some((spellings) => {
    let states = new Set([0]);
    for (const character of characters) {
      // Separators are allowed anywhere.
      const next = new Set(separators.has(character) ? states : []);
      for (const state of states) {
        for (const { among, to } of spellings[state] ?? []) if (among.has(character)) next.add(to);
      }
      if (isSuffix) next.add(0);
      states = next;
    }
    return states.has(spellings.length - 1);
  });
}

/** Converts to lower case and removes marks, compatibility forms, trademark signs and invisible characters. */
function fold(text: string): string {
  return text
    .replace(/[™℠]/g, '')
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
}
