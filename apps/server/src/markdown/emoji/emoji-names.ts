import { gemoji } from 'gemoji';
import { flavourEmojiNames } from './flavour-emoji-names.js';

/** The code points of an emoji in hexadecimal, joined by hyphens, without the selectors that ask for a picture. */
function codeOf(characters: string): string {
  return [...characters.replaceAll('\uFE0F', '')]
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

/** The code of a Unicode emoji by its name, such as `1f642` for `smile`; undefined when no emoji has this name. */
export function emojiCode(name: string): string | undefined {
  return codeByName.get(name);
}

/** The first name of an emoji; undefined for an unknown code. */
export function emojiNameOf(code: string): string | undefined {
  return namesByCode.get(code)?.[0];
}

/** The names of each emoji by its code, the first one the one shown: what clients fetch as `code_to_names`. */
export function emojiCodeToNames(): Record<string, readonly string[]> {
  return Object.fromEntries(namesByCode);
}
