import type { UserId } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { z } from 'zod';
import { roles } from '../permissions/roles.js';
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

/** A bot that does whatever its owner's program does; there is no other kind yet. */
const genericBot = 1;

const profileValue = z
  .object({ value: z.string(), rendered_value: z.string().optional() })
  .meta({ schemaName: 'ProfileFieldValue' });

/** A user on the wire. */
export const userRecord = z
  .object({
    user_id: z.number().int(),
    email: z.string(),
    /** Null for readers who may not know it. */
    delivery_email: z.string().nullable(),
    full_name: z.string(),
    /** ISO 8601 to the minute; the day alone for whoever has no account. */
    date_joined: z.string(),
    is_active: z.boolean(),
    is_owner: z.boolean(),
    /** True of owners too. */
    is_admin: z.boolean(),
    is_guest: z.boolean(),
    is_bot: z.boolean(),
    bot_type: z.number().int().nullable(),
    /** Only of bots. */
    bot_owner_id: z.number().int().nullable().optional(),
    role: z.number().int(),
    /** Not for whoever has no account. */
    timezone: z.string().optional(),
    /** Null where clients make it from the address. */
    avatar_url: z.string().nullable(),
    avatar_version: z.number().int(),
    /** By the fields' ids; only of people, only where it is asked for, and not for whoever has no account. */
    profile_data: z.record(z.string(), profileValue).optional(),
  })
  .meta({ schemaName: 'User' });

/** Who reads, and what they have asked for. */
export interface RecordOptions {
  readonly reader: Reader;
  readonly realm: Pick<PushRealm, 'url'>;
  /** Clients make the URLs of the provider's pictures themselves. */
  readonly clientMakesAvatars: boolean;
  /** What the profiles say; `undefined` where nobody has asked for it. */
  readonly profileDataOf: ((userId: UserId) => ProfileData) | undefined;
}

/** A user as a reader may see it. */
export function writeUser(user: UserDetails, options: RecordOptions): z.input<typeof userRecord> {
  const { reader, realm, profileDataOf } = options;
  const { id, role, isBot } = user;
  const shown = reader === undefined ? asForStrangers(user) : user;
  // Fields that are not always there are set after: spread into the literal they would take many times as long.
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

/** A user whose address, and a picture by which it could be guessed, whoever has no account is not shown. */
export function asForStrangers(user: UserDetails): UserDetails {
  return { ...user, isBot: false, visibility: addressVisibility.nobody };
}

/** What a reader learns of a user of whom it may not know: the id alone. */
export function asUnknown(user: UserDetails): UserDetails {
  return {
    ...user,
    fullName: 'Unknown user',
    visibility: addressVisibility.nobody,
    isBot: false,
    avatarUrl: providerAvatarUrl('unknown user', 1),
  };
}

/** What stands for a user of whom the reader may not know, for clients that expect a record of everybody. */
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
    bot_type: null,
    role: roles.member,
    timezone: '',
    avatar_url: nobody.avatarUrl ?? null,
    avatar_version: 1,
    profile_data: {},
  };
}

/** The URL of a user's picture; null where clients make it from the address. */
export function writeAvatar(
  user: UserDetails,
  { realm, clientMakesAvatars }: Pick<RecordOptions, 'realm' | 'clientMakesAvatars'>,
): string | null {
  if (user.avatarUrl !== undefined) return user.avatarUrl;
  // Clients can only make it from the real address.
  if (clientMakesAvatars && isPublicAddress(user)) return null;
  return providerAvatarUrl(shownAddress(user, realm), user.avatarVersion);
}

function writeJoined(joinedAt: number, reader: Reader): string {
  const instant = new Date(joinedAt).toISOString();
  return reader === undefined ? instant.slice(0, 10) : `${instant.slice(0, 16)}+00:00`;
}
