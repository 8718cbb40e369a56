/** Groups in memory, as an oracle takes them: who is in each directly, and which groups are nested in it directly. */
export type NestedGroups = ReadonlyMap<
  number,
  { readonly memberIds: readonly number[]; readonly subgroupIds: readonly number[] }
>;

/** Whether somebody is in at least one of the groups, at whatever depth. */
export function isInAny(groups: NestedGroups, userId: number, groupIds: readonly number[]): boolean {
  const reached = new Set(groupIds);
  // What is added while it goes on is looked at, too.
  for (const groupId of reached) {
    const { memberIds = [], subgroupIds = [] } = groups.get(groupId) ?? {};
    if (memberIds.includes(userId)) return true;
    for (const subgroupId of subgroupIds) reached.add(subgroupId);
  }
  return false;
}
