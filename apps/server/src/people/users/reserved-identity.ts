import { domainToUnicode } from 'node:url';
import { exactLookalikes, similarLetters } from './lookalikes.js';
import { systemBotAddressDomain, systemBotNames } from './system-bots.js';

/** The email gateway of stock servers. Clients may treat it as one of the server's own bots. */
const stockBots = ['email-gateway'];

/** Pairs of letters that look like one letter in many fonts. */
const pairs: Readonly<Record<string, string>> = { d: 'cl', m: 'rn', w: 'vv' };

/** Groups of characters that look alike in upper or lower case. */
const alike = ['il1|!', 'o0'];

/** Lookalikes that are neither letters nor digits, such as `!`. They may also separate words. */
const symbols = [...'abcdefghijklmnopqrstuvwxyz']
  .flatMap((letter) => [...lookalikesOf(letter)])
  .filter((each) => !/[\p{L}\p{N}]/u.test(each));
const separators: ReadonlySet<string> = new Set(symbols.flatMap((each) => [...each]));
const ignored = new RegExp(`[^\\p{L}\\p{N}${symbols.join('')}]`, 'gu');

/** Words that may begin a lookalike name. Only one may, because several could spell a real name, such as Lola. */
const articles = 'the a an le la les el los las der die das un une il'.split(' ');

/** Words that may connect the two words of a reserved name, as in "Bot for notifications". */
const connecting = 'the of for by de du des der'.split(' ');

/**
 * Words that do not distinguish a name from the names of the server's own bots. They may be repeated before and after
 * the name.
 */
const decorating =
  'the bot bots abot official real system server notification notifications welcome v i x'.split(' ');

const digits = { has: (character: string) => /\p{N}/u.test(character) };

const reservedNames = decorated([...systemBotNames, ...stockBots].map((name) => name.split('-')));
const reservedDomain = exactly(systemBotAddressDomain.split('.'));

/**
 * Returns whether a name looks like the name of one of the server's own bots. Considers any letter case, script and
 * style, digits and symbols in place of letters, plurals, any word order, and any invisible characters, emoji, spaces
 * and punctuation in between. Ignores articles, digits, and words such as "bot" and "official".
 */
export function isReservedName(name: string): boolean {
  return looksLike(reservedNames, name);
}

/**
 * Returns whether an email address looks like an address of one of the server's own bots: it has the bots' domain or
 * a subdomain, or it has the local part of a bot's address at any domain. Considers the same spellings as {@link
 * isReservedName}.
 */
export function isReservedAddress(address: string): boolean {
  const at = address.lastIndexOf('@');
  const [local = ''] = address.slice(0, at).split('+', 1);
  const domain = address.slice(at + 1);
  return (
    looksLike(reservedNames, local) ||
    [domain, domainToUnicode(domain)].some((form) => looksLike(reservedDomain, form, { isSuffix: true }))
  );
}

/** A transition of the state machine: one of these characters leads to the state with this index. */
interface Move {
  readonly among: { has(character: string): boolean };
  readonly to: number;
}

/**
 * A state machine that accepts the spellings of reserved names, from state 0 to `end`. It reads a string in linear
 * time, whereas a regular expression could backtrack for hours.
 */
interface Spellings {
  readonly states: Move[][];
  readonly end: number;
}

/** Builds the state machine for two-word names, in both orders and with decorations. */
function decorated(names: readonly (readonly string[])[]): Spellings {
  const spellings: Spellings = { states: [[], [], []], end: 2 };
  const [start, begun, { end }] = [0, 1, spellings];
  for (const article of articles) readWord(spellings, { from: start, to: begun }, article);
  for (const state of [start, begun, end]) readDecorations(spellings, state, decorating);
  for (const [first = '', second = ''] of names) {
    for (const [one, two] of [[first, second] as const, [second, first] as const]) {
      const middle = newState(spellings);
      for (const from of [start, begun]) readWord(spellings, { from, to: middle }, one);
      readDecorations(spellings, middle, [...connecting, 's']);
      readWord(spellings, { from: middle, to: end }, two);
    }
  }
  readDecorations(spellings, end, ['s']);
  return spellings;
}

/** Builds the state machine for these words, in this order. */
function exactly(words: readonly string[]): Spellings {
  const spellings: Spellings = { states: [[], []], end: 1 };
  readWord(spellings, { from: 0, to: 1 }, words.join(''));
  return spellings;
}

function readDecorations(spellings: Spellings, state: number, words: readonly string[]): void {
  spellings.states[state]?.push({ among: digits, to: state });
  for (const word of words) readWord(spellings, { from: state, to: state }, word);
}

/** Adds the transitions that read a word in all lookalike spellings of its letters. */
function readWord(spellings: Spellings, { from, to }: { from: number; to: number }, word: string): void {
  let state = from;
  for (const [index, letter] of [...word].entries()) {
    const next = index === word.length - 1 ? to : newState(spellings);
    const [first, second] = pairs[letter] ?? '';
    if (first !== undefined && second !== undefined) {
      const between = newState(spellings);
      spellings.states[state]?.push({ among: charactersOf(first), to: between });
      spellings.states[between]?.push({ among: charactersOf(second), to: next });
    }
    spellings.states[state]?.push({ among: charactersOf(letter), to: next });
    state = next;
  }
}

function newState({ states }: Spellings): number {
  return states.push([]) - 1;
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

/** Returns whether the state machine accepts the string. With `isSuffix`, only the end of the string has to match. */
function looksLike({ states: moves, end }: Spellings, text: string, { isSuffix = false } = {}): boolean {
  let states = new Set([0]);
  for (const character of fold(text).replace(ignored, '')) {
    // Separators are allowed anywhere.
    const next = new Set(separators.has(character) ? states : []);
    for (const state of states) {
      for (const { among, to } of moves[state] ?? []) if (among.has(character)) next.add(to);
    }
    if (isSuffix) next.add(0);
    states = next;
  }
  return states.has(end);
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
