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

const namesByCode = new Map<string, string[]>(
  gemoji.map(({ emoji, names, description }) => {
    const free = names.filter((name) => !Object.hasOwn(flavourEmojiNames, name));
    return [codeOf(emoji), free.length > 0 ? free : [description.replaceAll(/\W+/g, '_')]];
  }),
);
for (const [name, code] of Object.entries(flavourEmojiNames)) {
  namesByCode.set(code, [...new Set([name, ...(namesByCode.get(code) ?? [])])]);
}
const codeByName = new Map<string, string>();
for (const [code, names] of namesByCode) for (const name of names) codeByName.set(name, code);

interface KnownEmoji {
  readonly code: string;
  readonly name: string;
}

/** By the characters that the code stands for. */
const emojiByCharacters = new Map<string, KnownEmoji>(
  [...namesByCode].map(([code, [name = '']]) => {
    const characters = code.split('-').map((point) => String.fromCodePoint(Number.parseInt(point, 16)));
    return [characters.join(''), { code, name }];
  }),
);

/** The code of a Unicode emoji by its name, such as `1f642` for `smile`; undefined when no emoji has this name. */
export function emojiCode(name: string): string | undefined {
  return codeByName.get(name);
}

/** The code and the first name of an emoji, typed with or without selectors; undefined for an unknown one. */
export function emojiOf(typed: string): KnownEmoji | undefined {
  return emojiByCharacters.get(typed.replaceAll(pictureSelector, ''));
}

/** The names of each emoji by its code, the first one the one shown: what clients fetch as `code_to_names`. */
export function emojiCodeToNames(): Record<string, readonly string[]> {
  return Object.fromEntries(namesByCode);
}
