import type { UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { z } from 'zod';
import { roles } from '../../platform/authentication/roles.js';
import type { ProfileData } from '../profile-fields/profile-values.js';
import {
  addressVisibility,
  isPublicAddress,
  type Reader,
  readsAddress,
  shownAddress,
} from './address-visibility.js';
import { providerAvatarUrl } from './avatar.js';
import type { UserDetails } from './user-details.js';

/** A bot that runs its owner's program. There is no other type. */
const genericBot = 1;

const profileValue = z
  .object({ value: z.string(), rendered_value: z.string().optional() })
  .meta({ schemaName: 'ProfileFieldValue' });

/** A user on the wire (docs/chat-api.md, "User"). */
export const userRecord = z
  .object({
    user_id: z.number().int(),
    email: z.string(),
    /** Null for readers who cannot see it. */
    delivery_email: z.string().nullable(),
    full_name: z.string(),
    /** ISO 8601 to the minute; the date alone for spectators. */
    date_joined: z.string(),
    is_active: z.boolean(),
    is_owner: z.boolean(),
    /** True for owners too. */
    is_admin: z.boolean(),
    is_guest: z.boolean(),
    is_bot: z.boolean(),
    /** Always false: this server neither imports users nor deletes them. */
    is_imported_stub: z.boolean(),
    is_deleted: z.boolean(),
    bot_type: z.number().int().nullable(),
    /** Only for bots. */
    bot_owner_id: z.number().int().nullable().optional(),
    role: z.number().int(),
    /** Absent for spectators. */
    timezone: z.string().optional(),
    /** Null if clients compute it from the address. */
    avatar_url: z.string().nullable(),
    avatar_version: z.number().int(),
    /** By field id. Only for people, only on request, and absent for spectators. */
    profile_data: z.record(z.string(), profileValue).optional(),
  })
  .meta({ schemaName: 'User' });

/** The reader, and the optional fields that were requested. */
export interface RecordOptions {
  readonly reader: Reader;
  readonly realm: Pick<PushRealm, 'url'>;
  /** Whether clients compute the URLs of the provider's avatars themselves. */
  readonly clientMakesAvatars: boolean;
  /** Reads the profile of a user; `undefined` if it was not requested. */
  readonly profileDataOf: ((userId: UserId) => ProfileData) | undefined;
}

/** The record of a user with the fields that the reader can see. */
export function writeUser(user: UserDetails, options: RecordOptions): z.input<typeof userRecord> {
  const { reader, realm, profileDataOf } = options;
  const { id, role, isBot } = user;
  const shown = reader === undefined ? asForUnauthenticated(user) : user;
  // Sets optional fields afterwards: spreading them into the literal is many times slower.
  const record: z.input<typeof userRecord> = {
    user_id: id,
    email: shownAddress(shown, realm),
    delivery_email: readsAddress(reader, user) ? user.email : null,
    full_name: user.fullName,
    date_joined: writeJoined(user.joinedAt, reader),
    is_active: user.isActive,
    is_owner: role === roles.owner,
    is_admin: role <= roles.administrator,
    is_guest: role === roles.guest,
    is_bot: isBot,
    is_imported_stub: false,
    is_deleted: false,
    bot_type: isBot ? genericBot : null,
    role,
    avatar_url: writeAvatar(shown, options),
    avatar_version: user.avatarVersion,
  };
  if (isBot) record.bot_owner_id = user.botOwnerId ?? null;
  if (reader !== undefined) {
    record.timezone = user.timezone;
    if (profileDataOf !== undefined && !isBot) record.profile_data = profileDataOf(id);
  }
  return record;
}

/**
 * A user as spectators see it: without the address, and without the avatar URL, which would help to guess the address.
 */
export function asForUnauthenticated(user: UserDetails): UserDetails {
  return { ...user, isBot: false, visibility: addressVisibility.nobody };
}

/** A user that the reader cannot see: only the id is real. */
export function asUnknown(user: UserDetails): UserDetails {
  return {
    ...user,
    fullName: 'Unknown user',
    visibility: addressVisibility.nobody,
    isBot: false,
    avatarUrl: providerAvatarUrl('unknown user', 1),
  };
}

/** The placeholder record of a user that the reader cannot see, for clients that expect a record of every user. */
export function writeUnknownUser(
  user: UserDetails,
  realm: Pick<PushRealm, 'url'>,
): z.input<typeof userRecord> {
  const nobody = asUnknown(user);
  return {
    user_id: user.id,
    email: shownAddress(nobody, realm),
    delivery_email: null,
    full_name: nobody.fullName,
    date_joined: '1970-01-01T00:00+00:00',
    is_active: true,
    is_owner: false,
    is_admin: false,
    is_guest: false,
    is_bot: false,
    is_imported_stub: false,
    is_deleted: false,
    bot_type: null,
    role: roles.member,
    timezone: '',
    avatar_url: nobody.avatarUrl ?? null,
    avatar_version: 1,
    profile_data: {},
  };
}

/** The URL of a user's avatar; null if clients compute it from the address. */
export function writeAvatar(
  user: UserDetails,
  { realm, clientMakesAvatars }: Pick<RecordOptions, 'realm' | 'clientMakesAvatars'>,
): string | null {
  if (user.avatarUrl !== undefined) return user.avatarUrl;
  // Clients need the real address to compute the avatar's URL.
  if (clientMakesAvatars && isPublicAddress(user)) return null;
  return providerAvatarUrl(shownAddress(user, realm), user.avatarVersion);
}

function writeJoined(joinedAt: number, reader: Reader): string {
  const instant = new Date(joinedAt).toISOString();
  return reader === undefined ? instant.slice(0, 10) : `${instant.slice(0, 16)}+00:00`;
}
