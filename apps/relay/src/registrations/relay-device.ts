import type { ApnsEnvironment, PushAccountId, PushTarget } from '@waxwing/protocol';
import type { Selectable } from 'kysely';
import type { RelayTables } from '../relay-tables.js';
import type { TokenVault } from './token-vault.js';

/** One install of an app in one realm, as the relay knows it. Instants in Unix milliseconds. */
export interface RelayDevice {
  readonly id: number;
  readonly realmId: number;
  readonly target: PushTarget;
  readonly registeredAt: number;
  /** When the vendor said that the token is dead; `undefined` while it lives. */
  readonly expiredAt: number | undefined;
}

/** A registration that was opened and found good. */
export interface NewRelayDevice {
  readonly realmId: number;
  readonly pushAccountId: PushAccountId;
  readonly target: PushTarget;
  readonly registeredAt: number;
}

/** What of a row makes the device; the other columns only tell it from others. */
export const deviceColumns = [
  'id',
  'realm_id',
  'token_kind',
  'token',
  'ios_app_id',
  'apns_environment',
  'registered_at',
  'expired_at',
] as const;

type DeviceRow = Pick<Selectable<RelayTables['relay_devices']>, (typeof deviceColumns)[number]>;

/** The device in a row. @throws Error when the vault cannot open its token. */
export function toRelayDevice(row: DeviceRow, vault: TokenVault): RelayDevice {
  return {
    id: row.id,
    realmId: row.realm_id,
    target: toTarget(row, vault.open(row.token)),
    registeredAt: row.registered_at,
    expiredAt: row.expired_at ?? undefined,
  };
}

function toTarget(row: DeviceRow, token: string): PushTarget {
  if (row.token_kind === 'fcm') return { tokenKind: 'fcm', token };
  const apnsEnvironment: ApnsEnvironment = row.apns_environment === 'sandbox' ? 'sandbox' : 'production';
  return { tokenKind: 'apns', token, iosAppId: row.ios_app_id ?? '', apnsEnvironment };
}
