import { parseJsonOrUndefined, refused, type UserId } from '@waxwing/protocol';
import { optionsOf } from './plan-profile-field.js';
import type { ProfileField } from './profile-field-record.js';
import { type ProfileFieldType, profileFieldTypes } from './profile-field-types.js';
import { isWebUrl } from './web-url.js';

/** Limits in code points. */
const maximumShortCharacters = 50;
const maximumLongCharacters = 500;

/** A value as the client sends it. It is a list of user ids for a people field, and null if there is no value. */
export type RequestedValue = string | readonly number[] | null;

type ValueField = Pick<ProfileField, 'type' | 'name' | 'fieldData'>;

/** The users that profile values refer to, with their state. */
export type PeopleFacts = ReadonlyMap<UserId, { readonly isActive: boolean; readonly isBot: boolean }>;

const types = profileFieldTypes;

/** Returns whether a field's values are rendered as Markdown. */
export function isMarkdownType(type: ProfileFieldType): boolean {
  return type === types.SHORT_TEXT.id || type === types.LONG_TEXT.id;
}

/** Returns the ids in a value. Clients send a list or its JSON encoding. Returns `undefined` for any other value. */
export function listedIds(value: RequestedValue): readonly number[] | undefined {
  const list = typeof value === 'string' ? parseJsonOrUndefined(value) : value;
  if (!Array.isArray(list)) return undefined;
  return list.every((id) => Number.isSafeInteger(id)) ? (list as number[]) : undefined;
}

/**
 * Validates a value and returns it in its stored form, or null if it is empty.
 * @throws ProtocolError BAD_REQUEST if the value does not fit the field's type.
 */
export function checkedProfileValue(
  field: ValueField,
  value: RequestedValue,
  people: PeopleFacts,
): string | null {
  if (value === null || value.length === 0) return null;
  if (field.type === types.USER.id) return checkedPeople(field.name, value, people);
  if (typeof value !== 'string') throw refused(`${field.name} is not a string`);
  if (value.includes('\0')) throw refused(`${field.name} must not contain the character U+0000`);
  return checkedText(field, value);
}

function checkedText(field: ValueField, value: string): string {
  switch (field.type) {
    case types.SELECT.id:
      if (optionsOf(field)?.includes(value)) return value;
      throw refused(`'${value}' is not a valid choice for '${field.name}'.`);
    case types.DATE.id:
      if (isDay(value)) return value;
      throw refused(`${field.name} is not a date`);
    case types.URL.id:
      if (isWebUrl(value)) return value;
      throw refused(`${field.name} is not a URL`);
    default:
      return boundedText(field, value);
  }
}

function boundedText({ type, name }: ValueField, value: string): string {
  const limit = type === types.LONG_TEXT.id ? maximumLongCharacters : maximumShortCharacters;
  if ([...value].length <= limit) return value;
  throw refused(`${name} is too long (limit: ${limit} characters)`);
}

function checkedPeople(name: string, value: string | readonly number[], people: PeopleFacts): string | null {
  const ids = listedIds(value);
  if (ids === undefined) throw refused(`${name} is not a list of user IDs`);
  for (const id of ids) {
    const user = people.get(id as UserId);
    if (user === undefined) throw refused(`Invalid user ID: ${id}`);
    if (!user.isActive) throw refused(`User with ID ${id} is deactivated`);
    if (user.isBot) throw refused(`User with ID ${id} is a bot`);
  }
  return ids.length === 0 ? null : `[${ids.join(', ')}]`;
}

/** Returns whether a string is a valid date in ISO 8601 format. Year 0 is not allowed. */
function isDay(text: string): boolean {
  const instant = /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return instant !== undefined && !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
}
