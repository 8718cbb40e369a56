import type { ApnsEnvironment, PushTarget, RelayDeviceId, TokenKind } from '@waxwing/protocol';
import type { Selectable } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayTables } from '../../tables.js';
import type { Addressee } from './addressee.js';
import { bindingOfToken, type TokenVault, type UnreadableToken } from './token-vault.js';

/** A value below every device id. */
export const beforeAllDevices = 0 as RelayDeviceId;

/**
 * Identity of a device. The id alone is not enough: after a restore, the same id may belong to another account, and
 * notifications would reach that account's phone.
 */
export interface RelayDeviceName {
  readonly realmId: RealmId;
  readonly relayDeviceId: RelayDeviceId;
  readonly addressee: Addressee;
}

/** A stored installation of an app in one realm. Times in Unix milliseconds. */
export interface RelayDevice {
  readonly id: RelayDeviceId;
  readonly realmId: RealmId;
  readonly target: PushTarget;
  readonly registeredAt: number;
  /** When the vendor reported the token as dead; `undefined` while it is valid. */
  readonly expiredAt: number | undefined;
}

/** A device whose token cannot be decrypted. The other columns are available. The token is not treated as dead. */
export interface UnreadableRelayDevice extends Omit<RelayDevice, 'target'> {
  readonly unreadable: UnreadableToken;
}

export type StoredRelayDevice = RelayDevice | UnreadableRelayDevice;

export function hasReadableToken(device: StoredRelayDevice): device is RelayDevice {
  return 'target' in device;
}

/** A device to store, from a valid registration. */
export interface NewRelayDevice {
  readonly realmId: RealmId;
  readonly addressee: Addressee;
  readonly target: PushTarget;
  readonly registeredAt: number;
  /** The sealed timestamp. */
  readonly datedAt: number;
}

/** The columns that {@link toRelayDevice} needs. */
export const deviceColumns = [
  'id',
  'realm_id',
  'push_account_id',
  'token_lookup',
  'token_kind',
  'token',
  'ios_app_id',
  'apns_environment',
  'registered_at',
  'expired_at',
] as const;

/** A row with {@link deviceColumns}, as stored. */
export type DeviceRow = Pick<Selectable<RelayTables['relay_devices']>, (typeof deviceColumns)[number]>;

/** Converts a row to a device. */
export function toRelayDevice(row: DeviceRow, vault: TokenVault): StoredRelayDevice {
  const { id, realm_id: realmId, registered_at: registeredAt } = row;
  const expiredAt = row.expired_at ?? undefined;
  const token = vault.open(row.token, bindingOfToken(row));
  const unreadable = typeof token === 'string' ? undefined : token;
  const target = typeof token === 'string' ? toTarget(row, token) : undefined;
  if (target !== undefined) return { id, realmId, registeredAt, expiredAt, target };
  return { id, realmId, registeredAt, expiredAt, unreadable: unreadable ?? unknownKind };
}

const unknownKind: UnreadableToken = { reason: 'UNKNOWN_TOKEN_KIND' };

/** Converts rows to targets, by token kind. A row that a later version stored may have an unknown kind. */
const targetOfKind: Readonly<Record<TokenKind, (row: DeviceRow, token: string) => PushTarget>> = {
  fcm: (_row, token) => ({ tokenKind: 'fcm', token }),
  webpush: (_row, token) => ({ tokenKind: 'webpush', token }),
  apns: (row, token) => {
    const apnsEnvironment: ApnsEnvironment = row.apns_environment === 'sandbox' ? 'sandbox' : 'production';
    return { tokenKind: 'apns', token, iosAppId: row.ios_app_id ?? '', apnsEnvironment };
  },
};

function toTarget(row: DeviceRow, token: string): PushTarget | undefined {
  const kind = row.token_kind;
  return Object.hasOwn(targetOfKind, kind) ? targetOfKind[kind as TokenKind](row, token) : undefined;
}
