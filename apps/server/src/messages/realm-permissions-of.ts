import type { Kysely } from 'kysely';
import type { PermissionName } from '../permissions/permission-settings.js';
import { holdsPermissions, type PermissionHolder } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import type { ServerTables } from '../tables.js';

/** Which of these permissions of the organisation somebody has: one statement. */
export async function realmPermissionsOf(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  names: readonly PermissionName<'realm'>[],
): Promise<ReadonlySet<PermissionName<'realm'>>> {
  const answers = await holdsPermissions(
    db,
    actor,
    names.map((name) => ({ level: 'realm', ownerId: wholeRealm, name })),
  );
  return new Set(names.filter((_, index) => answers[index]));
}
