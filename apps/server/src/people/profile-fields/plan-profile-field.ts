import { type JsonObject, refused, stringifyJson } from '@waxwing/protocol';
import { nameProblem } from '../../platform/names/name-problem.js';
import { checkedFieldData, wellKnownAccount } from './field-data.js';
import type { ProfileField } from './profile-field-record.js';
import { isProfileFieldType, profileFieldTypes } from './profile-field-types.js';

/** Limits in code points. */
const maximumNameCharacters = 40;
const maximumHintCharacters = 80;
const maximumSummaryFields = 2;

/** A requested profile field. */
export interface FieldRequest {
  readonly type: number;
  readonly name: string;
  readonly hint: string;
  readonly fieldData: JsonObject;
  readonly isRequired: boolean;
  readonly isEditableByUser: boolean;
  readonly isInSummary: boolean;
  readonly isForMatching: boolean;
}

/** A validated field, without id and order. */
export type PlannedField = Omit<ProfileField, 'id' | 'order'>;

/** The requested changes to a field; `undefined` keeps the current value. */
export type FieldUpdateRequest = {
  readonly [Part in keyof Omit<FieldRequest, 'type'>]: FieldRequest[Part] | undefined;
};

/**
 * Validates a requested field against the `others`.
 * @throws ProtocolError BAD_REQUEST if the request violates a rule.
 */
export function planProfileField(others: readonly ProfileField[], requested: FieldRequest): PlannedField {
  const { type, isInSummary, isRequired, isEditableByUser, isForMatching } = requested;
  if (isInSummary && others.filter((other) => other.isInSummary).length >= maximumSummaryFields) {
    throw refused(`Only ${maximumSummaryFields} custom profile fields can be in the profile summary.`);
  }
  if (!isProfileFieldType(type)) throw refused('Invalid field type.');
  const fieldData = checkedFieldData(type, requested.fieldData);
  const { name, hint } = wellKnownAccount(type, requested.fieldData) ?? checkedTexts(requested);
  if (isInSummary && !canBeInSummary(type)) throw refused('Field type not supported in the profile summary.');
  if (others.some((other) => other.name === name)) throw refused('A field with that label already exists.');
  const written = fieldData === undefined ? '' : stringifyJson(fieldData);
  return { type, name, hint, fieldData: written, isRequired, isEditableByUser, isInSummary, isForMatching };
}

/**
 * Validates an update of `field` against all `fields`.
 * @throws ProtocolError BAD_REQUEST if the request violates a rule.
 */
export function planFieldUpdate(
  fields: readonly ProfileField[],
  field: ProfileField,
  requested: FieldUpdateRequest,
): PlannedField {
  const current = field.fieldData === '' ? {} : (JSON.parse(field.fieldData) as JsonObject);
  const others = fields.filter((other) => other !== field);
  const fieldData = requested.fieldData ?? current;
  const planned = planProfileField(others, {
    type: field.type,
    fieldData,
    name: requested.name ?? field.name,
    hint: requested.hint ?? field.hint,
    isRequired: requested.isRequired ?? field.isRequired,
    isEditableByUser: requested.isEditableByUser ?? field.isEditableByUser,
    isInSummary: requested.isInSummary ?? field.isInSummary,
    isForMatching: requested.isForMatching ?? field.isForMatching,
  });
  if (wellKnownAccount(field.type, current) !== undefined) requireSameAccount(field, planned, requested);
  return planned;
}

/** Returns the option keys of a list field, or `undefined` for other field types. */
export function optionsOf({ type, fieldData }: Pick<ProfileField, 'type' | 'fieldData'>) {
  if (type !== profileFieldTypes.SELECT.id) return undefined;
  return Object.keys(JSON.parse(fieldData) as JsonObject);
}

function requireSameAccount(field: ProfileField, planned: PlannedField, requested: FieldUpdateRequest): void {
  const isSame =
    planned.fieldData === field.fieldData &&
    (requested.name ?? field.name) === field.name &&
    (requested.hint ?? field.hint) === field.hint;
  if (!isSame) throw refused('The name, hint and data of a well-known account cannot be changed.');
}

function checkedTexts({ name, hint }: FieldRequest): { readonly name: string; readonly hint: string } {
  const label = name.trim();
  if (label === '') throw refused('Label cannot be blank.');
  if ([...label].length > maximumNameCharacters)
    throw refused(`Label cannot exceed ${maximumNameCharacters} characters.`);
  if ([...hint].length > maximumHintCharacters)
    throw refused(`Hint cannot exceed ${maximumHintCharacters} characters.`);
  const problem = nameProblem('label', label) ?? (hint === '' ? undefined : nameProblem('hint', hint));
  if (problem !== undefined) throw refused(problem);
  return { name: label, hint };
}

function canBeInSummary(type: number): boolean {
  return type !== profileFieldTypes.LONG_TEXT.id && type !== profileFieldTypes.USER.id;
}
