/** Groups in memory for oracles: each group's direct members and direct subgroups. */
export type NestedGroups = ReadonlyMap<
  number,
  { readonly memberIds: readonly number[]; readonly subgroupIds: readonly number[] }
>;

/** Whether the user is in at least one of the groups, at any depth. */
export function isInAny(groups: NestedGroups, userId: number, groupIds: readonly number[]): boolean {
  const reached = new Set(groupIds);
  // The loop also visits groups that it adds while it runs.
  for (const groupId of reached) {
    const { memberIds = [], subgroupIds = [] } = groups.get(groupId) ?? {};
    if (memberIds.includes(userId)) return true;
    for (const subgroupId of subgroupIds) reached.add(subgroupId);
  }
  return false;
}
