import type { JsonObject } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { readUserSettings, storeUserSetting } from '../../people/user-settings/user-setting-store.js';
import type { UserSettingName, UserSettingValues } from '../../people/user-settings/user-settings.js';
import type { AddressVisibility } from '../../people/users/address-visibility.js';
import type { UserDetails } from '../../people/users/user-details.js';
import { eventsOfVisibility } from '../../people/users/user-events.js';
import { readersOf } from '../../people/users/user-visibility.js';
import type { PublishedEvent } from '../../platform/event-queues/publish-events.js';
import type { ServerTransaction } from '../../tables.js';

/** The requested settings; `undefined` keeps the current value. */
interface SettingsRequest {
  readonly settings: { readonly [Name in UserSettingName]?: UserSettingValues[Name] | undefined };
  readonly timezone: string | undefined;
  readonly visibility: AddressVisibility | undefined;
}

/** Applies changed settings of a locked user and returns the events to publish, the user's own first. */
export async function changeUserSettings(
  { db }: ServerTransaction,
  before: UserDetails,
  { settings, timezone, visibility }: SettingsRequest,
  realm: Pick<PushRealm, 'url'>,
): Promise<PublishedEvent[]> {
  const known = await readUserSettings(db, before.id);
  const events: PublishedEvent[] = [];
  const publishOwn = (property: string, value: string | number | boolean): void => {
    const event: JsonObject = { type: 'user_settings', op: 'update', property, value };
    events.push({ event, audience: [before.id] });
  };
  for (const [key, value] of Object.entries(settings)) {
    const name = key as UserSettingName;
    if (value === undefined || value === known[name]) continue;
    await storeUserSetting(db, before.id, name, value);
    publishOwn(name, value);
  }
  if (timezone !== undefined && timezone !== before.timezone) {
    await db.updateTable('users').set({ timezone }).where('id', '=', before.id).execute();
    publishOwn('timezone', timezone);
    const person = { user_id: before.id, timezone };
    const event = { type: 'realm_user', op: 'update', person };
    events.push({ event, audience: await readersOf(db, before) });
  }
  if (visibility !== undefined && visibility !== before.visibility) {
    const set = { email_address_visibility: visibility };
    await db.updateTable('users').set(set).where('id', '=', before.id).execute();
    publishOwn('email_address_visibility', visibility);
    events.push(...(await eventsOfVisibility(db, { before, after: { ...before, visibility }, realm })));
  }
  return events;
}
