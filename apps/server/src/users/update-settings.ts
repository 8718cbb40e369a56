import { noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { human } from '../authentication/authenticate.js';
import type { ServerContext } from '../context.js';
import { oneOf } from '../realm/setting-shapes.js';
import { timeZone } from '../user-settings/time-zone.js';
import {
  type UserSettingName,
  type UserSettingValues,
  userSettings,
} from '../user-settings/user-settings.js';
import { type AddressVisibility, addressVisibility } from './address-visibility.js';
import { changeUserSettings } from './change-user-settings.js';
import { findDetails, lockDetails } from './user-details.js';

type SettingParameters = {
  [Name in UserSettingName]: z.ZodOptional<(typeof userSettings)[Name]['parameter']>;
};

const settingParameters = Object.fromEntries(
  Object.entries(userSettings).map(([name, { parameter }]) => [name, parameter.optional()]),
) as SettingParameters;

const visibility = oneOf(Object.values(addressVisibility).map(String) as [string, ...string[]]).transform(
  (text) => Number(text) as AddressVisibility,
);

/**
 * `PATCH /api/v1/settings`: whoever asks changes its own settings; all of them or none. Its clients are told of each that
 * is another now; of its time zone, and of its address where who may read it is another, whoever may know. Refuses with
 * BAD_REQUEST bad values, and bots.
 */
export const updateSettings = operation({
  method: 'PATCH',
  path: '/api/v1/settings',
  summary: 'Changes settings of whoever asks.',
  actor: human,
  parameters: z.object({
    ...settingParameters,
    timezone: timeZone.optional(),
    email_address_visibility: visibility.optional(),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle({ publish, realm }: ServerContext, { actor, parameters }) {
    const { timezone, email_address_visibility, ...others } = parameters;
    const settings = others as Partial<UserSettingValues>;
    const wish = { settings, timezone, visibility: email_address_visibility };
    const self = { kind: 'id', id: actor.id } as const;
    await actor.change(
      async (transaction, held) => {
        const before = await findDetails(transaction.db, self, held);
        if (before === undefined) throw new Error('whoever asks has no row');
        await publish(transaction, await changeUserSettings(transaction, before, wish, realm));
      },
      // Whoever only holds a user could not change it beside another who holds it.
      async (transaction) => {
        await lockDetails(transaction, self, actor);
      },
    );
    return {};
  },
});
