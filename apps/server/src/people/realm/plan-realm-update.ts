import { type ChannelId, type GroupId, ProtocolError, refused } from '@waxwing/protocol';
import { requireAdministrator } from '../../platform/authentication/require-administrator.js';
import { type Role, roles } from '../../platform/authentication/roles.js';
import type { GroupSettingValue, SettingRequest } from '../permissions/group-setting-value.js';
import type { KnownReferences } from '../permissions/known-references.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import type { PermissionValues } from '../permissions/permission-store.js';
import { planPermission } from '../permissions/plan-permission.js';
import {
  channelSettingNames,
  channelSettings,
  guardianOf,
  noChannel,
  type RealmSettingName,
  type RealmSettingValues,
} from './realm-settings.js';

/** A requested change to the organization's settings. `undefined` keeps the current value. */
export interface RealmUpdateRequest {
  readonly settings: Readonly<Partial<{ [Name in RealmSettingName]: RealmSettingValues[Name] | undefined }>>;
  readonly permissions: Readonly<Partial<Record<PermissionName<'realm'>, SettingRequest | undefined>>>;
}

/** A validated change to the organization's settings. Omitted settings keep their value. */
export interface RealmChange {
  readonly settings: Readonly<Partial<RealmSettingValues>>;
  readonly permissions: Readonly<Partial<Record<PermissionName<'realm'>, GroupSettingValue>>>;
}

/** The state that the rules for a change to the organization depend on. */
export interface RealmFacts {
  /** `operator` for the server's operator at the command line. */
  readonly role: Role | 'operator';
  readonly settings: RealmSettingValues;
  readonly permissions: PermissionValues<'realm'>;
  readonly nobodyId: GroupId;
  readonly known: KnownReferences;
  /** The channels that the requested settings refer to. Omits missing and archived channels. */
  readonly channels: readonly { readonly id: ChannelId; readonly isPrivate: boolean }[];
}

/**
 * Validates a change to the organization's settings. The result is empty if nothing changes.
 * @throws ProtocolError UNAUTHORIZED_PRINCIPAL for actors who are not administrators, or not owners for owner
 * settings. BAD_REQUEST for unsuitable channels. Also the errors of {@link planPermission}.
 */
export function planRealmUpdate(facts: RealmFacts, requested: RealmUpdateRequest): RealmChange {
  const asked = Object.entries({ ...requested.settings, ...requested.permissions }).flatMap(
    ([name, value]) => (value === undefined ? [] : [name]),
  );
  requireGuardian(facts.role, asked);
  requireChannels(facts, requested);
  const settings = Object.entries(requested.settings).filter(
    ([name, value]) => value !== undefined && value !== facts.settings[name as RealmSettingName],
  );
  const permissions = Object.entries(requested.permissions).flatMap(([key, each]) => {
    const name = key as PermissionName<'realm'>;
    if (each === undefined) return [];
    const { nobodyId, known } = facts;
    const current = facts.permissions[name];
    const value = planPermission({ level: 'realm', name, current, nobodyId, known }, each);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { settings: Object.fromEntries(settings), permissions: Object.fromEntries(permissions) };
}

function requireChannels({ channels }: RealmFacts, { settings }: RealmUpdateRequest): void {
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
