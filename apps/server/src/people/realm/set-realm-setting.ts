import { parseJsonOrUndefined, parseWithMessages } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { CommandError } from '@waxwing/service/command-line';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Kysely } from 'kysely';
import { createPublisher } from '../../platform/event-queues/publish-events.js';
import { queueNotifier } from '../../platform/event-queues/queue-listeners.js';
import type { ServerDatabase, ServerTables } from '../../tables.js';
import {
  type GroupSettingValue,
  groupSettingValueShape,
  writeValue,
} from '../permissions/group-setting-value.js';
import { lockGroups } from '../permissions/lock-groups.js';
import { permissionNames, permissionSetting } from '../permissions/permission-settings.js';
import { readPermissions } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import { planRealmUpdate, type RealmUpdateRequest } from './plan-realm-update.js';
import { applyRealmChange, readRealmFacts } from './realm-change.js';
import { readRealmSettings } from './realm-setting-store.js';
import { guardianOf, isRealmPermissionName, isRealmSettingName, realmSettings } from './realm-settings.js';

/** A setting or permission of the organization, for display. */
interface SettingDescription {
  readonly name: string;
  readonly value: unknown;
  readonly defaultValue: unknown;
  readonly changedBy: string;
  readonly since: number;
}

/** Returns all settings and permissions of the organization. */
export async function describeSettings(db: Kysely<ServerTables>): Promise<SettingDescription[]> {
  const settings = await readRealmSettings(db);
  const permissions = (await readPermissions(db, 'realm', [wholeRealm]))(wholeRealm);
  return [
    ...Object.entries(realmSettings).map(([name, { default: defaultValue, since, changedBy }]) => ({
      name,
      value: settings[name as keyof typeof settings],
      defaultValue,
      changedBy,
      since,
    })),
    ...permissionNames('realm').map((name) => {
      const { default: defaultValue, since } = permissionSetting('realm', name);
      return { name, value: writeValue(permissions[name]), defaultValue, changedBy: guardianOf(name), since };
    }),
  ];
}

interface OperatorContext {
  readonly database: ServerDatabase;
  readonly clock: Clock;
  readonly realm: Pick<PushRealm, 'url'>;
}

/**
 * Sets a setting on the operator's behalf and publishes its events. Returns whether anything changed.
 * @throws CommandError for an unknown name or an invalid value, and the ProtocolErrors of `PATCH /realm`.
 */
export async function setRealmSetting(
  { database, clock, realm }: OperatorContext,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<boolean> {
  const requested = await readRequest(database.db, name, text);
  const publish = createPublisher(queueNotifier(database.signals), clock);
  const now = clock();
  return database.writeFirst(async (transaction) => {
    await lockGroups(transaction);
    const facts = await readRealmFacts(transaction, 'operator', requested);
    const events = await applyRealmChange(transaction, planRealmUpdate(facts, requested), { now, realm });
    await publish(
      transaction,
      events.map((event) => ({ event, audience: 'everyone' as const })),
    );
    return events.length > 0;
  });
}

async function readRequest(
  db: Kysely<ServerTables>,
  name: string,
  text: string,
): Promise<RealmUpdateRequest> {
  if (isRealmSettingName(name)) {
    const { success, data, error } = parseWithMessages(realmSettings[name].parameter, text);
    if (!success) throw new CommandError(`Invalid ${name}: ${error.issues[0]?.message}.`);
    return { settings: { [name]: data }, permissions: {} };
  }
  if (!isRealmPermissionName(name)) {
    throw new CommandError(
      `There is no setting ${name}: run "waxwing-server realm settings" to list all settings.`,
    );
  }
  return { settings: {}, permissions: { [name]: { new: await readGroups(db, text), old: undefined } } };
}

async function readGroups(db: Kysely<ServerTables>, text: string): Promise<GroupSettingValue> {
  const parsed = groupSettingValueShape.safeParse(parseJsonOrUndefined(text));
  if (parsed.success) return parsed.data;
  const group = await db
    .selectFrom('user_groups')
    .select('id')
    .where('name_lower', '=', text.toLowerCase())
    .executeTakeFirst();
  if (group === undefined) {
    throw new CommandError(
      `There is no group ${text}: specify the name of a group, such as role:members, or its id.`,
    );
  }
  return group.id;
}
