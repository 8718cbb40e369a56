import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import { roles } from '../../platform/authentication/roles.js';
import { initialState, type StateContext } from '../../platform/event-queues/initial-state.js';
import type { ServerTables } from '../../tables.js';
import { holdsPermissions } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import { shownAddress } from './address-visibility.js';
import { writePicture } from './avatar.js';
import { listForSpectator, listForUser } from './list-users.js';
import { listedUser } from './listed-user.js';
import { ownDetails, type UserDetails } from './user-details.js';

/** The requester's permissions as booleans, for legacy clients that do not support permission groups. */
const ownPermissions = {
  can_create_public_streams: 'can_create_public_channel_group',
  can_create_private_streams: 'can_create_private_channel_group',
  can_create_web_public_streams: 'can_create_web_public_channel_group',
  can_subscribe_other_users: 'can_add_subscribers_group',
  can_invite_others_to_realm: 'can_invite_users_group',
} as const;

const ownPermissionNames = Object.keys(ownPermissions) as (keyof typeof ownPermissions)[];
const ownPermissionFields = Object.fromEntries(
  ownPermissionNames.map((name) => [name, z.boolean()]),
) as Record<keyof typeof ownPermissions, z.ZodBoolean>;

const ownFields = {
  email: z.string(),
  delivery_email: z.string(),
  full_name: z.string(),
  avatar_url: z.string(),
  avatar_url_medium: z.string(),
  /** `G` for the provider's avatar, `U` for an uploaded avatar. */
  avatar_source: z.enum(['G', 'U']),
  is_owner: z.boolean(),
  /** Also true for owners. */
  is_admin: z.boolean(),
  /** Also true for administrators and owners. */
  is_moderator: z.boolean(),
  is_guest: z.boolean(),
};

/** The users and bots that the reader can see, ordered by id, and the reader's own fields. */
export const usersState = initialState({
  eventType: 'realm_user',
  shape: z.object({
    realm_users: z.array(listedUser),
    realm_non_active_users: z.array(listedUser),
    cross_realm_bots: z.array(z.looseObject({ user_id: z.number().int() })),
    ...ownFields,
    ...ownPermissionFields,
  }),
  async fetch(context, actor, client) {
    const {
      database: { db },
      realm,
    } = context;
    const own = await ownDetails(db, actor);
    return {
      ...(await listForUser(context, actor, { ...client, own })),
      cross_realm_bots: [],
      ...writeOwn(own, realm),
      ...(await readOwnPermissions(db, actor)),
    };
  },
  fetchForSpectator: listForSpectator,
});

function writeOwn(own: UserDetails, realm: StateContext['realm']) {
  const { role } = own;
  const shown = shownAddress(own, realm);
  return {
    email: shown,
    delivery_email: own.email,
    full_name: own.fullName,
    ...writePicture(shown, own),
    is_owner: role === roles.owner,
    is_admin: role <= roles.administrator,
    is_moderator: role <= roles.moderator,
    is_guest: role === roles.guest,
  };
}

async function readOwnPermissions(
  db: Kysely<ServerTables>,
  actor: KnownUser,
): Promise<Record<keyof typeof ownPermissions, boolean>> {
  const asked = ownPermissionNames.map((name) => ({
    level: 'realm' as const,
    ownerId: wholeRealm,
    name: ownPermissions[name],
  }));
  const held = await holdsPermissions(db, actor, asked);
  return Object.fromEntries(ownPermissionNames.map((name, index) => [name, held[index] ?? false])) as Record<
    keyof typeof ownPermissions,
    boolean
  >;
}
