import { Secret } from '@waxwing/service/config';
import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import { human } from '../authentication/authenticate.js';
import type { KnownUser } from '../authentication/credential-store.js';
import { passwordLength } from '../authentication/password-hash.js';
import type { ServerContext } from '../context.js';
import { holdGroups } from '../permissions/hold-groups.js';
import { oneOf, textOfAtMost } from '../realm/setting-shapes.js';
import type { PasswordClaim } from '../sign-in/prove-password.js';
import { timeZone } from '../user-settings/time-zone.js';
import {
  type UserSettingName,
  type UserSettingValues,
  userSettings,
} from '../user-settings/user-settings.js';
import { type AddressVisibility, addressVisibility } from '../users/address-visibility.js';
import { lockOwnDetails, ownDetails } from '../users/user-details.js';
import { changeOwnIdentity } from './change-own-identity.js';
import { type NewPassword, prepareNewPassword, storeNewPassword } from './change-password.js';
import { changeUserSettings } from './change-user-settings.js';

type SettingParameters = {
  [Name in UserSettingName]: z.ZodOptional<(typeof userSettings)[Name]['parameter']>;
};

const settingParameters = Object.fromEntries(
  Object.entries(userSettings).map(([name, { parameter }]) => [name, parameter.optional()]),
) as SettingParameters;

const visibility = oneOf(Object.values(addressVisibility).map(String) as [string, ...string[]]).transform(
  (text) => Number(text) as AddressVisibility,
);

const password = textOfAtMost(passwordLength.maximum)
  .transform((text) => new Secret(text))
  .optional();

/**
 * `PATCH /api/v1/settings`: whoever asks changes its own settings, its name and its password; all of them or none. A new
 * password needs the old one, leaves API keys as they are, and revokes the user's invitations; the answer says how many. Its
 * clients are told of each setting that is another now; of its name, its time zone, and of its address where who may read it
 * is another, whoever may know. Refuses with BAD_REQUEST bad values, a wrong password, a name where names are not to be
 * changed, an address from whoever may not change addresses, and bots; with RATE_LIMIT_HIT whoever has failed too often
 * with the old password.
 */
export const updateSettings = operation({
  method: 'PATCH',
  path: '/api/v1/settings',
  summary: 'Changes settings, name and password of whoever asks.',
  actor: human,
  parameters: z.object({
    ...settingParameters,
    timezone: timeZone.optional(),
    email_address_visibility: visibility.optional(),
    full_name: z.string().optional(),
    email: z.string().optional(),
    old_password: password,
    new_password: password,
  }),
  answer: z.object({
    /** With a new password. */
    revoked_invitations: z.number().int().optional(),
  }),
  codes: ['BAD_REQUEST', 'RATE_LIMIT_HIT'],
  // A password waits in the line of passwords, which is bounded.
  waitsForOthers: true,
  async handle(context: ServerContext, { actor, head, parameters, signal }) {
    const { timezone, email_address_visibility, full_name, email, old_password, new_password, ...others } =
      parameters;
    const settings = others as Partial<UserSettingValues>;
    const wish = { settings, timezone, visibility: email_address_visibility };
    const passwords = { old: old_password, wanted: new_password };
    const newPassword = await readyPassword(context, actor, passwords, { address: head.address, signal });
    return actor.change(
      async (transaction, held) => {
        const { publish, realm } = context;
        const identity = { fullName: full_name, email };
        const before = await ownDetails(transaction.db, held);
        await publish(transaction, await changeOwnIdentity(transaction, before, identity, context));
        const named = await ownDetails(transaction.db, held);
        await publish(transaction, await changeUserSettings(transaction, named, wish, realm));
        if (newPassword === undefined) return {};
        return { revoked_invitations: await storeNewPassword(context, transaction, actor.id, newPassword) };
      },
      async (transaction) => {
        if (full_name !== undefined || email !== undefined) await holdGroups(transaction);
        // Whoever only holds a user could not change it beside another who holds it.
        await lockOwnDetails(transaction, actor);
      },
    );
  },
});

/** Clients that show one form for all send an empty new password where nobody has typed one. */
async function readyPassword(
  context: ServerContext,
  actor: KnownUser,
  { old = new Secret(''), wanted }: Passwords,
  from: Pick<PasswordClaim, 'address' | 'signal'>,
): Promise<NewPassword | undefined> {
  if (wanted === undefined || wanted.reveal() === '') return undefined;
  const { email: name } = await ownDetails(context.database.db, actor);
  return prepareNewPassword(context, { ...from, name, password: old }, wanted);
}

interface Passwords {
  readonly old: Secret<string> | undefined;
  readonly wanted: Secret<string> | undefined;
}
