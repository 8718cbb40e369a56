import { type ProtocolError, refused } from '@waxwing/protocol';
import { nameProblem } from '../../platform/names/name-problem.js';
import { isReservedName } from './reserved-identity.js';

const maximumCharacters = 100;
/** Characters of the mention syntax. In a name, they would make mentions ambiguous. */
const reserved = /[*`\\>"@]/;

/**
 * Validates a person's name and returns it trimmed.
 * @throws ProtocolError BAD_REQUEST if the name is empty, longer than 100 characters, has a {@link nameProblem} or
 * characters of the mention syntax, ends like a mention by id (`|123`), or looks like the name of one of the server's own
 * bots.
 */
export function checkedFullName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw refused("Full name can't be empty!");
  if ([...trimmed].length > maximumCharacters) {
    throw refused(`Name too long! The maximum is ${maximumCharacters} characters.`);
  }
  if (reserved.test(trimmed) || nameProblem('name', trimmed) !== undefined) {
    throw refused('Invalid characters in name!');
  }
  if (/\|\d+$/.test(trimmed)) throw refused('Invalid format!');
  if (isReservedName(trimmed)) {
    throw refused("This name is reserved for the server's own bots: choose another one.");
  }
  return trimmed;
}

/** Returns the error for a name that another user has, in an organization with unique names. */
export function fullNameTaken(): ProtocolError {
  return refused('Unique names required in this organization: choose another name.');
}
