import { type ChannelId, type GroupId, ProtocolError, refused } from '@waxwing/protocol';
import { requireAdministrator } from '../authentication/require-administrator.js';
import type { GroupSettingValue, SettingWish } from '../permissions/group-setting-value.js';
import type { KnownReferences } from '../permissions/known-references.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import type { PermissionValues } from '../permissions/permission-store.js';
import { planPermission } from '../permissions/plan-permission.js';
import { type Role, roles } from '../permissions/roles.js';
import {
  channelSettingNames,
  channelSettings,
  guardianOf,
  noChannel,
  type RealmSettingName,
  type RealmSettingValues,
} from './realm-settings.js';

/** What somebody wants to be another with the organisation. */
export interface RealmUpdateWish {
  readonly settings: Readonly<Partial<{ [Name in RealmSettingName]: RealmSettingValues[Name] | undefined }>>;
  readonly permissions: Readonly<Partial<Record<PermissionName<'realm'>, SettingWish | undefined>>>;
}

/** What will be another with the organisation. */
export interface RealmChange {
  readonly settings: Readonly<Partial<RealmSettingValues>>;
  readonly permissions: Readonly<Partial<Record<PermissionName<'realm'>, GroupSettingValue>>>;
}

/** What rules about the organisation ask for. */
export interface RealmFacts {
  /** `operator` for whoever runs the server. */
  readonly role: Role | 'operator';
  readonly settings: RealmSettingValues;
  readonly permissions: PermissionValues<'realm'>;
  readonly nobodyId: GroupId;
  readonly known: KnownReferences;
  /** The channels that settings are to name, as far as they are in use. */
  readonly channels: readonly { readonly id: ChannelId; readonly isPrivate: boolean }[];
}

/**
 * What will change; nothing where everything is so already.
 * @throws ProtocolError UNAUTHORIZED_PRINCIPAL for whoever is no administrator, or no owner where that is needed, and as
 * {@link planPermission}.
 */
export function planRealmUpdate(facts: RealmFacts, wish: RealmUpdateWish): RealmChange {
  const asked = Object.entries({ ...wish.settings, ...wish.permissions }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  requireGuardian(facts.role, asked);
  requireChannels(facts, wish);
  const settings = Object.entries(wish.settings).filter(
    ([name, value]) => value !== undefined && value !== facts.settings[name as RealmSettingName],
  );
  const permissions = Object.entries(wish.permissions).flatMap(([key, each]) => {
    const name = key as PermissionName<'realm'>;
    if (each === undefined) return [];
    const { nobodyId, known } = facts;
    const current = facts.permissions[name];
    const value = planPermission({ level: 'realm', name, current, nobodyId, known }, each);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { settings: Object.fromEntries(settings), permissions: Object.fromEntries(permissions) };
}

function requireChannels({ channels }: RealmFacts, { settings }: RealmUpdateWish): void {
  for (const name of channelSettingNames) {
    const id = settings[name] ?? noChannel;
    if (id === noChannel) continue;
    const isPrivate = channelSettings[name] === 'private';
    if (channels.some((channel) => channel.id === id && (channel.isPrivate || !isPrivate))) continue;
    throw refused(
      `${name} is ${id}: it must be the id of a ${isPrivate ? 'private ' : ''}channel that is not archived, or -1`,
    );
  }
}

function requireGuardian(role: RealmFacts['role'], names: readonly string[]): void {
  if (role === 'operator' || role === roles.owner) return;
  requireAdministrator({ role });
  if (names.every((name) => guardianOf(name) === 'administrator')) return;
  throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization owner' });
}
