import { refused } from '@waxwing/protocol';
import type { ProfileField } from './profile-field-record.js';
import {
  checkedProfileValue,
  isMarkdownType,
  type PeopleFacts,
  type WishedValue,
} from './profile-value-rules.js';

/** What somebody wants a profile to say. */
export interface ProfileValueWish {
  readonly id: number;
  readonly value: WishedValue;
}

/** What rules about values ask for. */
export interface ProfileValueFacts {
  /** Those that the wishes name, by their ids. */
  readonly fields: ReadonlyMap<
    number,
    Pick<ProfileField, 'type' | 'name' | 'fieldData' | 'isEditableByUser'>
  >;
  /** What the profile says now, by the fields' ids. */
  readonly current: ReadonlyMap<number, string>;
  readonly people: PeopleFacts;
  /** Whoever changes the profile is an administrator. */
  readonly mayEditAll: boolean;
}

/** What a profile will say; nothing any more where the value is null. */
export interface PlannedValue {
  readonly fieldId: number;
  readonly value: string | null;
  readonly isMarkdown: boolean;
}

/**
 * What of a profile will be another: first what goes, then what comes; nothing of what is so already.
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
