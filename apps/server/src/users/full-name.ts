import { type ProtocolError, refused } from '@waxwing/protocol';
import { isReservedName } from './reserved-identity.js';

const maximumCharacters = 100;
/** Mentions could not be told from what is around them. */
const reserved = /[*`\\>"@]/;
/**
 * What is not to be seen, and what turns the direction of the text around it: control, format, surrogate, private, line
 * and paragraph.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;

/**
 * A person's name without the blanks around it.
 * @throws ProtocolError BAD_REQUEST where it is empty, longer than 100 characters, has characters that mentions need or that
 * are invisible, ends as a mention by id does, or looks like that of one of the server's own bots.
 */
export function checkedFullName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw refused("Full name can't be empty!");
  if ([...trimmed].length > maximumCharacters) {
    throw refused(`Name too long! It can have ${maximumCharacters} characters.`);
  }
  if (reserved.test(trimmed) || unprintable.test(trimmed)) throw refused('Invalid characters in name!');
  if (/\|\d+$/.test(trimmed)) throw refused('Invalid format!');
  if (isReservedName(trimmed)) {
    throw refused("This name is reserved for the server's own bots: choose another one.");
  }
  return trimmed;
}

/** The refusal of a name that somebody else has, where names must differ. */
export function fullNameTaken(): ProtocolError {
  return refused('Unique names required in this organization: choose another name.');
}

/** The form in which names are the same that people take for the same: letter case and width are left out. */
export function foldedName(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase();
}
