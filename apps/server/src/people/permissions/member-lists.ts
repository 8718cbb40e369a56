import type { UserId } from '@waxwing/protocol';
import { ascendingIds } from './ascending-ids.js';

/** Maximum members that one statement reads on SQLite, where the statement blocks the event loop. */
export const membersPerPiece = 10_000;

/** The start of a piece: after the member `after` of the first owner. */
export interface PieceStart<Owner extends number> {
  /** Channels or groups, in ascending order. */
  readonly owners: readonly Owner[];
  readonly first: Owner;
  readonly after: UserId;
}

/** The members of one owner in a piece. */
interface PieceRow<Owner extends number> {
  readonly owner: Owner;
  readonly members: number | string | bigint;
  readonly last: UserId;
}

/**
 * A {@link PieceRow} with the members as a JSON array in `ids`: transferring many rows takes longer than finding them.
 */
type ListRow<Owner extends number> = PieceRow<Owner> & { readonly ids: string };

/**
 * Returns the members of each channel or group, in ascending order. Omits channels and groups without members. Reads
 * in pieces, as {@link memberPieces} does.
 */
export async function listMembers<Owner extends number>(
  ownerIds: readonly Owner[],
  read: (start: PieceStart<Owner>) => Promise<readonly ListRow<Owner>[]>,
): Promise<ReadonlyMap<Owner, UserId[]>> {
  const found = new Map<Owner, UserId[]>();
  for await (const rows of memberPieces(ownerIds, read)) {
    for (const { owner, ids } of rows) {
      const users = JSON.parse(ids) as UserId[];
      const earlier = found.get(owner);
      if (earlier === undefined) found.set(owner, users);
      else for (const user of users) earlier.push(user);
    }
  }
  return found;
}

/**
 * Reads the members of channels or groups, and yields the rows of each statement. On SQLite, `read` returns at most
 * {@link membersPerPiece} members, ordered by owner and member, so one owner's members may span several statements. On
 * PostgreSQL, `read` returns all members.
 */
export async function* memberPieces<Owner extends number, Row extends PieceRow<Owner>>(
  ownerIds: readonly Owner[],
  read: (start: PieceStart<Owner>) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let owners = ascendingIds(ownerIds);
  let after = 0 as UserId;
  for (;;) {
    const [first] = owners;
    if (first === undefined) return;
    const rows = await read({ owners, first, after });
    yield rows;
    const members = rows.reduce((sum, row) => sum + Number(row.members), 0);
    const last = rows.find(({ owner }) => rows.every((other) => other.owner <= owner));
    if (last === undefined || members !== membersPerPiece) return;
    owners = owners.filter((id) => id >= last.owner);
    after = last.last;
  }
}
