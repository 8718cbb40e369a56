import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import { roles } from '../../platform/authentication/roles.js';
import {
  type AskingClient,
  initialState,
  type StateContext,
} from '../../platform/event-queues/initial-state.js';
import type { ServerTables } from '../../tables.js';
import { holdsPermissions } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import { readProfileData } from '../profile-fields/profile-values.js';
import { shownAddress } from './address-visibility.js';
import { writePicture } from './avatar.js';
import { detailsInPieces, type UserDetails } from './user-details.js';
import { userRecord, writeUnknownUser, writeUser } from './user-record.js';
import { readVisibilityOf } from './user-visibility.js';

const listedUser = userRecord.omit({ is_active: true });

/** The requester's permissions as booleans: the legacy format from before permission groups. */
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
  /** The provider's avatar, or an uploaded one. */
  avatar_source: z.enum(['G', 'U']),
  is_owner: z.boolean(),
  /** True for owners too. */
  is_admin: z.boolean(),
  /** True for administrators and owners too. */
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
    const { own, ...listed } = await listUsers(context, actor, client);
    if (own === undefined) throw new Error('the requester has no row');
    return {
      ...listed,
      cross_realm_bots: [],
      ...writeOwn(own, realm),
      ...(await readOwnPermissions(db, actor)),
    };
  },
  async fetchForSpectator(context, client) {
    const { own: _, ...listed } = await listUsers(context, undefined, client);
    return listed;
  },
});

/** The users that the reader can see, and the reader itself. */
async function listUsers(
  { database: { db }, realm, nextTick }: StateContext,
  actor: KnownUser | undefined,
  { capabilities, makesAvatars }: AskingClient,
) {
  const sees = await readVisibilityOf(db, actor);
  const listed: z.input<typeof userRecord>[] = [];
  let own: UserDetails | undefined;
  for await (const users of detailsInPieces(db, undefined)) {
    const ids = users.map(({ id }) => id);
    const options = {
      reader: actor,
      realm,
      clientMakesAvatars: makesAvatars,
      profileDataOf: actor && (await readProfileData(db, ids)),
    };
    own ??= users.find(({ id }) => id === actor?.id);
    for (const each of users) {
      if (sees(each)) listed.push(writeUser(each, options));
      // Clients without this capability cannot render messages from users they do not know.
      else if (actor !== undefined && !capabilities.includes('user_list_incomplete')) {
        listed.push(writeUnknownUser(each, realm));
      }
    }
    await nextTick();
  }
  const withoutState = ({ is_active: _, ...user }: (typeof listed)[number]) => user;
  return {
    realm_users: listed.filter(({ is_active }) => is_active).map(withoutState),
    realm_non_active_users: listed.filter(({ is_active }) => !is_active).map(withoutState),
    own,
  };
}

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
