import { noAnswer, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { type SettingRequest, settingRequestShape } from '../permissions/group-setting-value.js';
import { lockGroups } from '../permissions/lock-groups.js';
import { type PermissionName, permissionNames } from '../permissions/permission-settings.js';
import { planRealmUpdate } from './plan-realm-update.js';
import { applyRealmChange, readRealmFacts } from './realm-change.js';
import { welcomeBodyLimitBytes } from './realm-limits.js';
import { type RealmSettingName, type RealmSettingValues, realmSettings } from './realm-settings.js';

type SettingParameters = {
  [Name in RealmSettingName]: z.ZodOptional<(typeof realmSettings)[Name]['parameter']>;
};
type PermissionParameters = Record<
  PermissionName<'realm'>,
  ReturnType<typeof optionalJsonParameter<typeof settingRequestShape>>
>;

const settingParameters = Object.fromEntries(
  Object.entries(realmSettings).map(([name, { parameter }]) => [name, parameter.optional()]),
) as SettingParameters;

const permissionParameters = Object.fromEntries(
  permissionNames('realm').map((name) => [name, optionalJsonParameter(settingRequestShape)]),
) as PermissionParameters;

/**
 * `PATCH /api/v1/realm`: changes settings and permissions of the organization. Atomic. Publishes the changes to all
 * users. Errors:
 *
 * - BAD_REQUEST for invalid values, and for groups that a permission does not accept
 * - REQUEST_VARIABLE_INVALID for invalid retention days
 * - UNAUTHORIZED_PRINCIPAL if the actor is not an administrator, or not an owner for owner settings
 * - EXPECTATION_MISMATCH if `old` is not the current value of a permission
 * - SYSTEM_GROUP_REQUIRED for any other value of a permission that accepts only role groups
 */
export const updateRealm = operation({
  method: 'PATCH',
  path: '/api/v1/realm',
  summary: 'Updates settings of the organization.',
  actor: user,
  bodyLimitBytes: welcomeBodyLimitBytes,
  parameters: z.object({ ...settingParameters, ...permissionParameters }),
  answer: noAnswer,
  codes: [
    'BAD_REQUEST',
    'REQUEST_VARIABLE_INVALID',
    'UNAUTHORIZED_PRINCIPAL',
    'EXPECTATION_MISMATCH',
    'SYSTEM_GROUP_REQUIRED',
  ],
  async handle({ clock, publish, realm }: ServerContext, { actor, parameters }) {
    const now = clock();
    const requested = {
      settings: among<Partial<RealmSettingValues>>(parameters, Object.keys(realmSettings)),
      permissions: among<Partial<Record<PermissionName<'realm'>, SettingRequest>>>(
        parameters,
        permissionNames('realm'),
      ),
    };
    await actor.change(async (transaction, { role }) => {
      const facts = await readRealmFacts(transaction, role, requested);
      const events = await applyRealmChange(transaction, planRealmUpdate(facts, requested), { now, realm });
      await publish(
        transaction,
        events.map((event) => ({ event, audience: 'everyone' as const })),
      );
    }, lockGroups);
    return {};
  },
});

function among<Some>(parameters: Readonly<Record<string, unknown>>, names: readonly string[]): Some {
  return Object.fromEntries(names.map((name) => [name, parameters[name]])) as Some;
}
