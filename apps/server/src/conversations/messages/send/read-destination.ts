import { type ChannelId, parseJsonOrUndefined, refused } from '@waxwing/protocol';

/** A recipient as the sender specifies it: a user id or an email address. */
export type NamedRecipient = number | string;

/** A channel as the sender specifies it. */
export type NamedChannel =
  | { readonly kind: 'id'; readonly id: ChannelId }
  | { readonly kind: 'name'; readonly name: string };

// A conversation's key contains all participants' ids and must fit into an index entry.
const maximumRecipients = 100;

/**
 * Parses a channel from `to`: its id or name, plain or as JSON. Accepts a list with one element.
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
 * Parses recipients from `to`: a JSON list of ids or addresses, or comma-separated addresses.
 * @throws ProtocolError BAD_REQUEST for anything else, and for more than 100 recipients.
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

/** Rejects NUL characters and lone surrogates, which JSON can encode but databases reject. */
function requireText(value: unknown): void {
  const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
  if (texts.some((text) => /[\0\p{Surrogate}]/u.test(text)))
    throw refused('Names must not contain null bytes or lone surrogates');
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

/** Parses JSON, or returns the text itself if it is not JSON. `JSON.parse` suffices: ids fit into a double. */
function parsed(text: string): unknown {
  return parseJsonOrUndefined(text, JSON.parse) ?? text;
}
