import type { Kysely } from 'kysely';
import type { PermissionName } from '../../people/permissions/permission-settings.js';
import { holdsPermissions, type PermissionHolder } from '../../people/permissions/permission-store.js';
import { wholeRealm } from '../../people/permissions/permission-tables.js';
import type { ServerTables } from '../../tables.js';

/** Returns which of these realm permissions the actor has, in one statement. */
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
