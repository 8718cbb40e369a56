import { type ChannelId, parseJsonOrUndefined, refused } from '@waxwing/protocol';

/** How somebody names a user to whom a message goes. */
export type NamedRecipient = number | string;

/** A channel as a sender names it. */
export type NamedChannel =
  | { readonly kind: 'id'; readonly id: ChannelId }
  | { readonly kind: 'name'; readonly name: string };

// A conversation is found by the ids of all who take part, which an index must hold.
const maximumRecipients = 100;

/**
 * The channel that `to` names: its id or its name, as it is or as JSON; a list of one name too.
 * @throws ProtocolError BAD_REQUEST for anything else.
 */
export function readChannelName(to: string): NamedChannel {
  const value = parsed(to);
  requireText(value);
  const only = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (isId(only)) return { kind: 'id', id: only as ChannelId };
  if (typeof only === 'string') return { kind: 'name', name: only.trim() };
  throw refused('Invalid data type for channel');
}

/**
 * The users whom `to` names: a list of ids or of addresses as JSON, or addresses with commas between them.
 * @throws ProtocolError BAD_REQUEST for anything else, for nobody, and for more than 100.
 */
export function readRecipientNames(to: string): NamedRecipient[] {
  const value = parsed(to);
  requireText(value);
  const listed = typeof value === 'string' ? value.split(',').map((email) => email.trim()) : value;
  const names = (Array.isArray(listed) ? listed : [listed]).filter((name) => name !== '');
  if (names.length > maximumRecipients) throw refused(`At most ${maximumRecipients} recipients are allowed`);
  if (names.every(isId)) return names;
  if (names.every((name) => typeof name === 'string')) return names;
  throw refused('Recipient list may only contain user IDs, or only email addresses');
}

/** JSON can write what no name has and no database keeps. */
function requireText(value: unknown): void {
  const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
  if (texts.some((text) => /[\0\p{Surrogate}]/u.test(text)))
    throw refused('Names must not contain null bytes or halves of characters');
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

/** JSON where it is that, and the text itself, a name or an address, otherwise. No id is beyond what a double holds. */
function parsed(text: string): unknown {
  return parseJsonOrUndefined(text, JSON.parse) ?? text;
}
