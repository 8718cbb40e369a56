import type { GroupOnWire, OrganisationUnderTest } from '../organisation-under-test.js';

/** Creates and reads groups. By default, a group is named after the test. */
export function groupsUnderTest(organisation: OrganisationUnderTest, name: () => string) {
  async function create(fields: Record<string, unknown> = {}, who: 'member' | 'owner' = 'member') {
    const all = { name: name(), description: 'For tests', members: [], ...fields };
    const { group_id } = await organisation.do(who, 'POST', 'user_groups/create', all);
    return group_id as number;
  }

  const groupNamed = async (wanted = name()) => (await organisation.groups())[wanted] as GroupOnWire;

  return { create, groupNamed };
}
