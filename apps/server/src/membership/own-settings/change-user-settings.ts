import type { JsonObject } from '@waxwing/protocol';
import type { ServerContext } from '../../context.js';
import { readUserSettings, storeUserSetting } from '../../people/user-settings/user-setting-store.js';
import type { UserSettingName, UserSettingValues } from '../../people/user-settings/user-settings.js';
import type { AddressVisibility } from '../../people/users/address-visibility.js';
import type { UserDetails } from '../../people/users/user-details.js';
import { eventsForSeeing, eventsOfVisibility } from '../../people/users/user-events.js';
import type { ServerTransaction } from '../../tables.js';

/** The requested settings; `undefined` keeps the current value. */
interface SettingsRequest {
  readonly settings: { readonly [Name in UserSettingName]?: UserSettingValues[Name] | undefined };
  readonly timezone: string | undefined;
  readonly visibility: AddressVisibility | undefined;
}

/** Applies changed settings to a locked user and publishes the events, starting with the user's own. */
export async function changeUserSettings(
  transaction: ServerTransaction,
  { publish, realm }: Pick<ServerContext, 'publish' | 'realm'>,
  before: UserDetails,
  { settings, timezone, visibility }: SettingsRequest,
): Promise<void> {
  const { db } = transaction;
  const known = await readUserSettings(db, before.id);
  const publishOwn = (property: string, value: string | number | boolean): Promise<void> => {
    const event: JsonObject = { type: 'user_settings', op: 'update', property, value };
    return publish(transaction, [{ event, audience: [before.id] }]);
  };
  for (const [key, value] of Object.entries(settings)) {
    const name = key as UserSettingName;
    if (value === undefined || value === known[name]) continue;
    await storeUserSetting(db, before.id, name, value);
    await publishOwn(name, value);
  }
  if (timezone !== undefined && timezone !== before.timezone) {
    await db.updateTable('users').set({ timezone }).where('id', '=', before.id).execute();
    await publishOwn('timezone', timezone);
    const person = { user_id: before.id, timezone };
    const event = { type: 'realm_user', op: 'update', person };
    await publish(transaction, eventsForSeeing(db, before, [event]));
  }
  if (visibility !== undefined && visibility !== before.visibility) {
    const set = { email_address_visibility: visibility };
    await db.updateTable('users').set(set).where('id', '=', before.id).execute();
    await publishOwn('email_address_visibility', visibility);
    await publish(transaction, eventsOfVisibility(db, { before, after: { ...before, visibility }, realm }));
  }
}
