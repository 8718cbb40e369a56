import { gemoji } from 'gemoji';
import { flavourEmojiNames } from './flavour-emoji-names.js';

/** Asks for a picture, and makes no other emoji. */
const pictureSelector = '\uFE0F';

/** The code points of an emoji in hexadecimal, joined by hyphens, without selectors. */
function codeOf(characters: string): string {
  return [...characters.replaceAll(pictureSelector, '')]
    .map((character) => (character.codePointAt(0) as number).toString(16).padStart(4, '0'))
    .join('-');
}

/** The characters of an emoji by its code, without selectors. */
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

// Made, in some milliseconds, when the first emoji comes.
function emojiTables(): EmojiTables {
  tables ??= makeTables();
  return tables;
}

function makeTables(): EmojiTables {
  const namesByCode = new Map<string, readonly string[]>(
    gemoji.map(({ emoji, names, description }) => {
      const free = names.filter((name) => !Object.hasOwn(flavourEmojiNames, name));
      return [codeOf(emoji), free.length > 0 ? free : [description.replaceAll(/\W+/g, '_')]];
    }),
  );
  for (const [name, code] of Object.entries(flavourEmojiNames)) {
    namesByCode.set(code, [...new Set([name, ...(namesByCode.get(code) ?? [])])]);
  }
  const all = [...namesByCode];
  return {
    namesByCode,
    codeByName: new Map(all.flatMap(([code, names]) => names.map((name) => [name, code]))),
    byCharacters: new Map(all.map(([code, [name = '']]) => [emojiCharacters(code), { code, name }])),
  };
}

/** The code of a Unicode emoji by its name, such as `1f642` for `smile`; undefined when no emoji has this name. */
export function emojiCode(name: string): string | undefined {
  return emojiTables().codeByName.get(name);
}

/** The code and the first name of an emoji, typed with or without selectors; undefined for an unknown one. */
export function emojiOf(typed: string): KnownEmoji | undefined {
  return emojiTables().byCharacters.get(typed.replaceAll(pictureSelector, ''));
}

/** The names of each emoji by its code, the first one the one shown: what clients fetch as `code_to_names`. */
export function emojiCodeToNames(): Record<string, readonly string[]> {
  return Object.fromEntries(emojiTables().namesByCode);
}
