import { gemoji } from 'gemoji';
import { emojiNameOverrides } from './emoji-name-overrides.js';

/** Variation selector 16 requests emoji presentation. It does not change the identity of the emoji. */
const emojiSelector = '\uFE0F';

/** Returns the code of an emoji: its code points in hexadecimal, joined by hyphens, without variation selectors. */
function codeOf(characters: string): string {
  return [...characters.replaceAll(emojiSelector, '')]
    .map((character) => (character.codePointAt(0) as number).toString(16).padStart(4, '0'))
    .join('-');
}

/** Returns the characters of the emoji with this code, without variation selectors. */
export function emojiCharacters(code: string): string {
  return String.fromCodePoint(...code.split('-').map((point) => Number.parseInt(point, 16)));
}

interface KnownEmoji {
  readonly code: string;
  readonly name: string;
}

interface EmojiTables {
  readonly namesByCode: ReadonlyMap<string, readonly string[]>;
  readonly codeByName: ReadonlyMap<string, string>;
  readonly byCharacters: ReadonlyMap<string, KnownEmoji>;
}

let tables: EmojiTables | undefined;

// Builds the tables on first use, because that takes a few milliseconds.
function emojiTables(): EmojiTables {
  tables ??= makeTables();
  return tables;
}

function makeTables(): EmojiTables {
  const namesByCode = new Map<string, readonly string[]>(
    gemoji.map(({ emoji, names, description }) => {
      const free = names.filter((name) => !Object.hasOwn(emojiNameOverrides, name));
      return [codeOf(emoji), free.length > 0 ? free : [description.replaceAll(/\W+/g, '_')]];
    }),
  );
  for (const [name, code] of Object.entries(emojiNameOverrides)) {
    namesByCode.set(code, [...new Set([name, ...(namesByCode.get(code) ?? [])])]);
  }
  const all = [...namesByCode];
  return {
    namesByCode,
    codeByName: new Map(all.flatMap(([code, names]) => names.map((name) => [name, code]))),
    byCharacters: new Map(all.map(([code, [name = '']]) => [emojiCharacters(code), { code, name }])),
  };
}

/**
 * Looks up the code of a Unicode emoji by name, such as `1f642` for `smile`. Returns undefined if the name is unknown.
 */
export function emojiCode(name: string): string | undefined {
  return emojiTables().codeByName.get(name);
}

/**
 * Finds the code and primary name of an emoji that was typed with or without variation selectors. Returns undefined if
 * the emoji is unknown.
 */
export function emojiOf(typed: string): KnownEmoji | undefined {
  return emojiTables().byCharacters.get(typed.replaceAll(emojiSelector, ''));
}

/** Returns all emoji names by code, with the primary name first. Clients fetch this as `code_to_names`. */
export function emojiCodeToNames(): Record<string, readonly string[]> {
  return Object.fromEntries(emojiTables().namesByCode);
}
