import { describe, expect, it } from 'vitest';
import {
  collapse,
  type GroupSettingValue,
  sameValue,
} from '#server/people/permissions/group-setting-value.js';
import { planPermission } from '#server/people/permissions/plan-permission.js';
import fc from '../../../support/fast-check.js';
import { groupId, userId } from '../../../support/ids.js';

const nobodyId = groupId(1);
const id = fc.integer({ min: 1, max: 6 });
const parts = fc.record({
  directMembers: fc.array(id.map(userId), { maxLength: 3 }),
  directSubgroups: fc.array(id.map(groupId), { maxLength: 3 }),
});
const value: fc.Arbitrary<GroupSettingValue> = fc.oneof(id.map(groupId), parts);

/** The normalized meaning of a value in any form: an empty group, one group, or sets of members and subgroups. */
function meaning(wanted: GroupSettingValue): string {
  if (typeof wanted === 'number') return `group ${wanted}`;
  const members = [...new Set(wanted.directMembers)].sort().join();
  const subgroups = [...new Set(wanted.directSubgroups)].sort().join();
  if (members === '' && subgroups === '') return `group ${nobodyId}`;
  return members === '' && !subgroups.includes(',') ? `group ${subgroups}` : `${members};${subgroups}`;
}

const everyone = {
  users: new Map([1, 2, 3, 4, 5, 6].map((number) => [userId(number), { isActive: true }])),
  groups: new Map(
    [1, 2, 3, 4, 5, 6].map((number) => [
      groupId(number),
      { name: `group ${number}`, isSystem: false, isActive: true },
    ]),
  ),
};

describe('the value of a permission', () => {
  it('has one canonical form for each meaning', () => {
    fc.assert(
      fc.property(value, value, (one, other) => {
        const [a, b] = [collapse(one, nobodyId), collapse(other, nobodyId)];
        expect(collapse(a, nobodyId)).toEqual(a);
        expect(meaning(a)).toBe(meaning(one));
        expect(sameValue(a, b)).toBe(meaning(one) === meaning(other));
      }),
      { numRuns: 1000 },
    );
  });

  it('becomes a group if it names only one group, role:nobody if it is empty, and stays a set with one member', () => {
    const user = userId(7);
    expect(collapse({ directMembers: [], directSubgroups: [groupId(5), groupId(5)] }, nobodyId)).toBe(5);
    expect(collapse({ directMembers: [], directSubgroups: [] }, nobodyId)).toBe(nobodyId);
    expect(collapse({ directMembers: [user], directSubgroups: [] }, nobodyId)).toEqual({
      directMembers: [user],
      directSubgroups: [],
    });
  });

  it('changes exactly when its meaning changes and the expected old value matches', () => {
    fc.assert(
      fc.property(value, value, fc.option(value, { nil: undefined }), (before, wanted, old) => {
        const current = collapse(before, nobodyId);
        const facts = {
          level: 'group',
          name: 'can_mention_group',
          current,
          nobodyId,
          known: everyone,
        } as const;
        const plan = () => planPermission(facts, { new: wanted, old });
        if (old !== undefined && meaning(old) !== meaning(current)) {
          expect(plan).toThrow(expect.objectContaining({ code: 'EXPECTATION_MISMATCH' }));
        } else if (meaning(wanted) === meaning(current)) expect(plan()).toBeUndefined();
        else expect(meaning(plan() ?? groupId(0))).toBe(meaning(wanted));
      }),
      { numRuns: 1000 },
    );
  });
});
