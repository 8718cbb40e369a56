import type { UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { readStored } from '../../people/user-settings/user-setting-store.js';
import type { UserSettingName } from '../../people/user-settings/user-settings.js';
import type { ServerTables } from '../../tables.js';
import type { SubscriptionRecord } from './subscription-record.js';

/** The user settings that apply if the values of a subscription are null, by property. */
const inherited = {
  desktop_notifications: 'enable_stream_desktop_notifications',
  audible_notifications: 'enable_stream_audible_notifications',
  push_notifications: 'enable_stream_push_notifications',
  email_notifications: 'enable_stream_email_notifications',
  wildcard_mentions_notify: 'wildcard_mentions_notify',
} as const satisfies Partial<Record<keyof SubscriptionRecord, UserSettingName>>;

export type InheritedName = keyof typeof inherited;
const names = Object.keys(inherited) as InheritedName[];

/** A user's account-wide settings, which apply to subscriptions whose value is null. */
export type InheritedNotifications = Readonly<Record<InheritedName, boolean>>;

/** Reads the inherited values of these users in one statement. */
export async function readInherited(
  db: Kysely<ServerTables>,
  userIds: readonly UserId[],
): Promise<(userId: UserId) => InheritedNotifications> {
  const rows = await db
    .selectFrom('user_settings')
    .select(['user_id', 'name', 'value'])
    .where('user_id', 'in', amongNumbers(db, userIds))
    .where('name', 'in', Object.values(inherited))
    .execute();
  const stored = new Map(rows.map(({ user_id, name, value }) => [`${user_id} ${name}`, value]));
  return (userId) =>
    Object.fromEntries(
      names.map((name) => {
        const setting = inherited[name];
        const value = stored.get(`${userId} ${setting}`) ?? null;
        return [name, readStored({ [setting]: value } as Record<typeof setting, string | null>, setting)];
      }),
    ) as InheritedNotifications;
}

/** Replaces null with the inherited value, for clients that do not support null in subscriptions. */
export function withInherited(
  record: SubscriptionRecord,
  settings: InheritedNotifications,
): SubscriptionRecord {
  const entries = names.map((name) => [name, record[name] ?? settings[name]]);
  return { ...record, ...Object.fromEntries(entries) };
}
