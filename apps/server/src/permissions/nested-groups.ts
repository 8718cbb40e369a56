import { ascendingIds } from './ascending-ids.js';

/** Groups as rules see them: who is in each directly, and which groups are nested in it directly. */
interface NestedGroup {
  readonly memberIds: readonly number[];
  readonly subgroupIds: readonly number[];
}

export type NestedGroups = ReadonlyMap<number, NestedGroup>;

/** A group with every group nested in it at whatever depth; unknown ones are left out. */
export function reachedGroups(groups: NestedGroups, groupId: number): ReadonlySet<number> {
  const reached = new Set<number>();
  const waiting = [groupId];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = groups.get(next);
    if (group === undefined || reached.has(next)) continue;
    reached.add(next);
    waiting.push(...group.subgroupIds);
  }
  return reached;
}

/** Everybody in a group, directly or through the groups nested in it, in ascending order. */
export function nestedMembers(groups: NestedGroups, groupId: number): number[] {
  const members = new Set<number>();
  for (const reached of reachedGroups(groups, groupId)) {
    for (const id of groups.get(reached)?.memberIds ?? []) members.add(id);
  }
  return ascendingIds(members);
}

/** Whether somebody is in at least one of the groups. */
export function isInAny(groups: NestedGroups, userId: number, groupIds: readonly number[]): boolean {
  return groupIds.some((groupId) =>
    [...reachedGroups(groups, groupId)].some((reached) => groups.get(reached)?.memberIds.includes(userId)),
  );
}

/** Whether a group would be in itself once `subgroupId` were nested in it. */
export function wouldMakeCycle(groups: NestedGroups, groupId: number, subgroupId: number): boolean {
  return groupId === subgroupId || reachedGroups(groups, subgroupId).has(groupId);
}
