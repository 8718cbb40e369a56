import { refused } from '@waxwing/protocol';
import type { ProfileField } from './profile-field-record.js';
import {
  checkedProfileValue,
  isMarkdownType,
  type PeopleFacts,
  type RequestedValue,
} from './profile-value-rules.js';

/** A requested profile value. */
export interface ProfileValueRequest {
  readonly id: number;
  readonly value: RequestedValue;
}

/** The facts needed by the rules for profile values. */
export interface ProfileValueFacts {
  /** The fields in the request, by id. */
  readonly fields: ReadonlyMap<
    number,
    Pick<ProfileField, 'type' | 'name' | 'fieldData' | 'isEditableByUser'>
  >;
  /** The profile's current values, by field id. */
  readonly current: ReadonlyMap<number, string>;
  readonly people: PeopleFacts;
  /** Whether an administrator makes the change. */
  readonly mayEditAll: boolean;
}

/** A validated profile value. `value` is null if the stored value is to be removed. */
export interface PlannedValue {
  readonly fieldId: number;
  readonly value: string | null;
  readonly isMarkdown: boolean;
}

/**
 * Validates requested values and returns the values that change, removals first.
 * @throws ProtocolError BAD_REQUEST if the request violates a rule.
 */
export function planProfileValues(
  facts: ProfileValueFacts,
  requests: readonly ProfileValueRequest[],
): PlannedValue[] {
  if (new Set(requests.map(({ id }) => id)).size < requests.length)
    throw refused('Each field may be listed only once.');
  const planned = requests.map(({ id, value }): PlannedValue => {
    const field = facts.fields.get(id);
    if (field === undefined) throw refused(`Field id ${id} not found.`);
    if (!field.isEditableByUser && !facts.mayEditAll)
      throw refused(`Only an administrator may change ${field.name}.`);
    return {
      fieldId: id,
      value: checkedProfileValue(field, value, facts.people),
      isMarkdown: isMarkdownType(field.type),
    };
  });
  const changed = planned.filter(({ fieldId, value }) => value !== (facts.current.get(fieldId) ?? null));
  return [...changed.filter(({ value }) => value === null), ...changed.filter(({ value }) => value !== null)];
}
