import { isJsonObject, type JsonObject, refused } from '@waxwing/protocol';
import { nameProblem } from '../../platform/names/name-problem.js';
import { externalAccounts, type ProfileFieldType, profileFieldTypes } from './profile-field-types.js';
import { isWebUrl } from './web-url.js';

const placeholder = '%(username)s';

/** Returns the well-known site of an external-account field, or `undefined` for any other field. */
export function wellKnownAccount(type: number, fieldData: JsonObject) {
  const { subtype } = fieldData;
  if (type !== profileFieldTypes.EXTERNAL_ACCOUNT.id || typeof subtype !== 'string') return undefined;
  return Object.hasOwn(externalAccounts, subtype)
    ? externalAccounts[subtype as keyof typeof externalAccounts]
    : undefined;
}

/**
 * Validates a field's data and returns the data to store. Returns `undefined` for field types without data.
 * @throws ProtocolError BAD_REQUEST for invalid options or an invalid external account.
 */
export function checkedFieldData(type: ProfileFieldType, fieldData: JsonObject): JsonObject | undefined {
  if (type === profileFieldTypes.SELECT.id) return checkedOptions(fieldData);
  if (type === profileFieldTypes.EXTERNAL_ACCOUNT.id) return checkedAccount(fieldData);
  return undefined;
}

function checkedOptions(options: JsonObject): JsonObject {
  const entries = Object.entries(options);
  if (entries.length === 0) throw refused('Field must have at least one choice.');
  const texts = entries.map(([key, option]) => {
    if (key.trim() === '' || key.includes('\0')) throw refused("The key of a choice can't be blank.");
    return checkedOption(option);
  });
  if (new Set(texts).size < texts.length) throw refused('Field must not have duplicate choices.');
  return options;
}

function checkedOption(option: unknown): string {
  if (!isJsonObject(option)) throw refused('A choice must be an object.');
  const { text, order, ...rest } = option;
  if (Object.keys(rest).length > 0) throw refused('A choice may have only text and order.');
  if (!isFilled(text) || !isFilled(order))
    throw refused("The text and the order of a choice must be strings and can't be blank.");
  const problem = nameProblem('text of a choice', text);
  if (problem !== undefined) throw refused(problem);
  return text;
}

function checkedAccount(account: JsonObject): JsonObject {
  const { subtype, url_pattern: urlPattern, ...rest } = account;
  if (Object.keys(rest).length > 0)
    throw refused('An external account may have only subtype and url_pattern.');
  if (wellKnownAccount(profileFieldTypes.EXTERNAL_ACCOUNT.id, account) !== undefined)
    return { subtype: subtype as string };
  if (subtype !== 'custom') throw refused('Invalid external account type');
  if (!isFilled(urlPattern)) throw refused('Custom external account must define URL pattern');
  if (urlPattern.split(placeholder).length !== 2)
    throw refused(`URL pattern must contain '${placeholder}' exactly once`);
  if (!isWebUrl(urlPattern.replace(placeholder, 'username')))
    throw refused('URL pattern must be a web address');
  return { subtype, url_pattern: urlPattern };
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
