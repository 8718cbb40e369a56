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

/** The type of bots that run their owner's program. The server has no other type. */
const genericBot = 1;

const profileValue = z
  .object({ value: z.string(), rendered_value: z.string().optional() })
  .meta({ schemaName: 'ProfileFieldValue' });

/** A user in the wire format (docs/chat-api.md, "User"). */
export const userRecord = z
  .object({
    user_id: z.number().int(),
    email: z.string(),
    /** The real address. Null for readers who cannot see it. */
    delivery_email: z.string().nullable(),
    full_name: z.string(),
    /** ISO 8601, to the minute. For spectators, only the date. */
    date_joined: z.string(),
    is_active: z.boolean(),
    is_owner: z.boolean(),
    /** Also true for owners. */
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
    /** Null if clients compute the URL from the address. */
    avatar_url: z.string().nullable(),
    avatar_version: z.number().int(),
    /** Profile values by field id. Present only for people, only on request, and never for spectators. */
    profile_data: z.record(z.string(), profileValue).optional(),
  })
  .meta({ schemaName: 'User' });

/** Who reads a user record, and which optional fields were requested. */
export interface RecordOptions {
  readonly reader: Reader;
  readonly realm: Pick<PushRealm, 'url'>;
  /** Whether clients compute the URLs of the provider's avatars themselves. */
  readonly clientMakesAvatars: boolean;
  /** Reads the profile of a user; `undefined` if it was not requested. */
  readonly profileDataOf: ((userId: UserId) => ProfileData) | undefined;
}

/** Builds the record of a user with the fields that the reader can see. */
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
 * Returns a user as spectators see it: with a hidden address, so that the provider's avatar URL does not help to guess
 * the address either.
 */
export function asForUnauthenticated(user: UserDetails): UserDetails {
  return { ...user, isBot: false, visibility: addressVisibility.nobody };
}

/**
 * Returns the user as shown to a reader who may not see it: the name and avatar are placeholders, and the email address
 * is hidden.
 */
export function asUnknown(user: UserDetails): UserDetails {
  return {
    ...user,
    fullName: 'Unknown user',
    visibility: addressVisibility.nobody,
    isBot: false,
    avatarUrl: providerAvatarUrl('unknown user', 1),
  };
}

/**
 * Builds the placeholder record of a user that the reader cannot see, for clients that expect a record of every user.
 */
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

/** Returns the URL of a user's avatar, or null if the client computes the URL from the address. */
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
