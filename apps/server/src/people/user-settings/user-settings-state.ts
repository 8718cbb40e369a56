import { z } from 'zod';
import { initialState } from '../../platform/event-queues/initial-state.js';
import { readUserSettings } from './user-setting-store.js';
import { emojisets, notificationSounds, type UserSettingName, userSettings } from './user-settings.js';

type SettingFields = { [Name in UserSettingName]: (typeof userSettings)[Name]['answer'] };

const settingFields = Object.fromEntries(
  Object.entries(userSettings).map(([name, { answer }]) => [name, answer]),
) as SettingFields;

const emojisetChoices = emojisets.map((key) => ({ key, text: key }));

/** The requester's settings. */
export const userSettingsState = initialState({
  eventType: 'user_settings',
  shape: z.object({
    user_settings: z.object({
      ...settingFields,
      timezone: z.string(),
      email_address_visibility: z.number().int(),
      available_notification_sounds: z.array(z.string()),
      emojiset_choices: z.array(z.object({ key: z.string(), text: z.string() })),
    }),
  }),
  async fetch({ database: { db } }, { id }) {
    const { timezone, email_address_visibility } = await db
      .selectFrom('users')
      .select(['timezone', 'email_address_visibility'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return {
      user_settings: {
        ...(await readUserSettings(db, id)),
        timezone,
        email_address_visibility,
        available_notification_sounds: [...notificationSounds],
        emojiset_choices: emojisetChoices,
      },
    };
  },
});
