import { Secret } from '@waxwing/service/config';
import { operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import { oneOf, textOfAtMost } from '../../people/realm/setting-shapes.js';
import { timeZone } from '../../people/user-settings/time-zone.js';
import {
  type UserSettingName,
  type UserSettingValues,
  userSettings,
} from '../../people/user-settings/user-settings.js';
import { type AddressVisibility, addressVisibility } from '../../people/users/address-visibility.js';
import { lockOwnDetails, ownDetails } from '../../people/users/user-details.js';
import { human } from '../../platform/authentication/authenticate.js';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import { passwordLength } from '../../platform/authentication/password-hash.js';
import type { PasswordAttempt } from '../sign-in/prove-password.js';
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
 * `PATCH /api/v1/settings`: changes the requester's own settings, name, address and password. Atomic. A new password
 * requires the old one, keeps API keys valid, and revokes the user's invitations. The response contains the number of
 * revoked invitations.
 *
 * Publishes changed settings to the requester's clients. Publishes the name, the time zone and a changed address
 * visibility to users who can see them.
 *
 * Errors: BAD_REQUEST for bots, invalid values, `target_users` (which other servers accept), a wrong password, a name
 * if the organization has disabled name changes, and an address if the requester may not change addresses;
 * RATE_LIMIT_HIT after too many failures with the old password.
 */
export const updateSettings = operation({
  method: 'PATCH',
  path: '/api/v1/settings',
  summary: "Updates the requester's settings, name, e-mail address and password.",
  actor: human,
  parameters: z.object({
    ...settingParameters,
    timezone: timeZone.optional(),
    email_address_visibility: visibility.optional(),
    full_name: z.string().optional(),
    email: z.string().optional(),
    old_password: password,
    new_password: password,
    target_users: optionalJsonParameter(z.never("this server changes only the requester's own settings")),
  }),
  answer: z.object({
    /** Present only with a new password. */
    revoked_invitations: z.number().int().optional(),
  }),
  codes: ['BAD_REQUEST', 'RATE_LIMIT_HIT'],
  // Password checks wait in a bounded queue.
  waitsForOthers: true,
  async handle(context: ServerContext, { actor, head, parameters, signal }) {
    const { timezone, email_address_visibility, full_name, email, old_password, new_password } = parameters;
    const settings = among(parameters) as Partial<UserSettingValues>;
    const requested = { settings, timezone, visibility: email_address_visibility };
    const passwords = { old: old_password, wanted: new_password };
    const newPassword = await readyPassword(context, actor, passwords, { address: head.address, signal });
    const locksGroups = full_name !== undefined || email !== undefined;
    return actor.change(
      async (transaction, locked) => {
        const { publish } = context;
        const identity = { fullName: full_name, email };
        const before = await ownDetails(transaction.db, locked);
        await publish(transaction, await changeOwnIdentity(transaction, before, identity, context));
        const named = await ownDetails(transaction.db, locked);
        await changeUserSettings(transaction, context, named, requested);
        if (newPassword === undefined) return {};
        return { revoked_invitations: await storeNewPassword(context, transaction, actor.id, newPassword) };
      },
      async (transaction) => {
        if (locksGroups) await lockGroups(transaction);
        // Takes the exclusive row lock before the requester's shared lock: upgrading two shared locks would deadlock.
        await lockOwnDetails(transaction, actor);
      },
      { isBatchFirst: locksGroups },
    );
  },
});

/** Selects the parameters that are user settings. */
function among(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.keys(userSettings).map((name) => [name, parameters[name]]));
}

/**
 * Prepares a password change. Ignores an empty new password, because clients that use one form for all settings send
 * an empty field.
 */
async function readyPassword(
  context: ServerContext,
  actor: KnownUser,
  { old = new Secret(''), wanted }: Passwords,
  from: Pick<PasswordAttempt, 'address' | 'signal'>,
): Promise<NewPassword | undefined> {
  if (wanted === undefined || wanted.reveal() === '') return undefined;
  const { email: name } = await ownDetails(context.database.db, actor);
  return prepareNewPassword(context, { ...from, name, password: old }, wanted);
}

interface Passwords {
  readonly old: Secret<string> | undefined;
  readonly wanted: Secret<string> | undefined;
}
