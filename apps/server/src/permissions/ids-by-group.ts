/** What belongs to each group, in the order of the rows. */
export function idsByGroup(
  rows: readonly { readonly group_id: number; readonly id: number }[],
): ReadonlyMap<number, readonly number[]> {
  const gathered = new Map<number, number[]>();
  for (const { group_id, id } of rows) {
    const ids = gathered.get(group_id) ?? [];
    ids.push(id);
    gathered.set(group_id, ids);
  }
  return gathered;
}
