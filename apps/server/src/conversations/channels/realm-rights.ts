import { ProtocolError, refused } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { insufficientPermission } from '../../people/permissions/insufficient-permission.js';
import type { PermissionName } from '../../people/permissions/permission-settings.js';
import { holdsPermissions, type PermissionHolder } from '../../people/permissions/permission-store.js';
import { wholeRealm } from '../../people/permissions/permission-tables.js';
import { hasPublicAccess } from '../../people/realm/public-access.js';
import { readRealmSettings } from '../../people/realm/realm-setting-store.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import type { Privacy } from './channel-privacy.js';
import type { TopicsPolicy } from './channel-store.js';

const asked = [
  'can_add_subscribers_group',
  'can_create_private_channel_group',
  'can_create_public_channel_group',
  'can_create_web_public_channel_group',
  'can_set_delete_message_policy_group',
  'can_set_topics_policy_group',
] as const satisfies PermissionName<'realm'>[];

/** A user's organization-wide permissions that concern channels. */
export interface RealmRights {
  readonly actor: PermissionHolder;
  readonly held: ReadonlySet<PermissionName<'realm'>>;
  /** Whether web-public channels are enabled, by both the server and the organization. */
  readonly offersWebPublic: boolean;
}

export async function readRealmRights(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  { serverOffersWebPublic }: { readonly serverOffersWebPublic: boolean },
): Promise<RealmRights> {
  const keys = asked.map((name) => ({ level: 'realm' as const, ownerId: wholeRealm, name }));
  const answers = await holdsPermissions(db, actor, keys);
  const offers = { offersWebPublicChannels: serverOffersWebPublic };
  return {
    actor,
    held: new Set(asked.filter((_, index) => answers[index])),
    offersWebPublic: hasPublicAccess(offers, await readRealmSettings(db)),
  };
}

/** @throws ProtocolError BAD_REQUEST if the actor may not create channels with this privacy. */
export function requireMayMake({ held }: RealmRights, { isPrivate }: Pick<Privacy, 'isPrivate'>): void {
  if (!held.has(isPrivate ? 'can_create_private_channel_group' : 'can_create_public_channel_group')) {
    throw insufficientPermission();
  }
}

/** @throws ProtocolError BAD_REQUEST if web-public channels are disabled or the actor may not create them. */
export function requireMayMakeWebPublic({ held, offersWebPublic }: RealmRights): void {
  if (!offersWebPublic) throw refused('Web-public channels are not enabled.');
  if (!held.has('can_create_web_public_channel_group')) throw insufficientPermission();
}

/** @throws ProtocolError BAD_REQUEST if the actor may not set a policy for the unnamed topic. */
export function requireMaySetTopicsPolicy({ actor, held }: RealmRights, policy: TopicsPolicy): void {
  if (policy === 'inherit' || isAdministrator(actor.role) || held.has('can_set_topics_policy_group')) return;
  throw insufficientPermission();
}

/** @throws ProtocolError BAD_REQUEST if the actor is not an administrator. */
export function requireMaySetDefault({ actor }: Pick<RealmRights, 'actor'>): void {
  if (!isAdministrator(actor.role)) {
    throw refused("You don't have permission to change default channels.");
  }
}

/** @throws ProtocolError UNAUTHORIZED_PRINCIPAL if the actor is not an owner. */
export function requireMaySetRetention({ actor }: Pick<RealmRights, 'actor'>): void {
  if (actor.role === roles.owner) return;
  throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization owner' });
}

/** Channel permissions that let others delete messages. Changing them requires an additional right. */
const deletePermissions: readonly PermissionName<'channel'>[] = [
  'can_delete_any_message_group',
  'can_delete_own_message_group',
];

/** @throws ProtocolError BAD_REQUEST if the permission controls deletion and the actor may not change it. */
export function requireMaySetPermission({ actor, held }: RealmRights, name: PermissionName<'channel'>): void {
  if (!deletePermissions.includes(name)) return;
  if (isAdministrator(actor.role) || held.has('can_set_delete_message_policy_group')) return;
  throw insufficientPermission();
}
