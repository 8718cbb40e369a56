import { refused } from '@waxwing/protocol';
import type { ProfileField } from './profile-field-record.js';
import {
  checkedProfileValue,
  isMarkdownType,
  type PeopleFacts,
  type WishedValue,
} from './profile-value-rules.js';

/** A requested profile value. */
export interface ProfileValueWish {
  readonly id: number;
  readonly value: WishedValue;
}

/** The facts that the rules for profile values need. */
export interface ProfileValueFacts {
  /** The fields that the request names, by id. */
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

/** A validated profile value; null removes it. */
export interface PlannedValue {
  readonly fieldId: number;
  readonly value: string | null;
  readonly isMarkdown: boolean;
}

/**
 * Validates requested values and returns the changed ones, removals first.
 * @throws ProtocolError BAD_REQUEST with the reason for a refusal.
 */
export function planProfileValues(
  facts: ProfileValueFacts,
  wishes: readonly ProfileValueWish[],
): PlannedValue[] {
  if (new Set(wishes.map(({ id }) => id)).size < wishes.length)
    throw refused('A field may be named only once.');
  const planned = wishes.map(({ id, value }): PlannedValue => {
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
