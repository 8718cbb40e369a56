/** What belongs to each group, in the order of the rows. */
export function idsByGroup<Id extends number>(
  rows: readonly { readonly group_id: number; readonly id: Id }[],
): ReadonlyMap<number, readonly Id[]> {
  const gathered = new Map<number, Id[]>();
  for (const { group_id, id } of rows) {
    const ids = gathered.get(group_id) ?? [];
    ids.push(id);
    gathered.set(group_id, ids);
  }
  return gathered;
}
