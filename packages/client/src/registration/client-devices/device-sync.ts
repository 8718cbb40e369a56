import type { ClientDeviceId, ClientDeviceOnWire, TokenId } from '@waxwing/protocol/phone';
import { type AccountDevice, noDevice } from '../../accounts/account-device.js';
import type { PushAccount } from '../../accounts/push-account.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../../key-list/bouncer-key-choice.js';
import type { RegistrarContext } from '../registrar-context.js';
import type { SyncRun } from '../sync-run.js';
import type { DeviceStates } from './device-states.js';

/** State of one sync. */
export interface DeviceSync {
  readonly context: RegistrarContext;
  readonly run: SyncRun;
  readonly tokenId: TokenId;
  readonly states: DeviceStates;
  /** Devices of signed-out accounts whose server has not been notified of the sign-out yet. */
  readonly forgotten: ReadonlySet<ClientDeviceId>;
  account: PushAccount;
  key: BouncerKeyChoice | NoBouncerKey;
  /** Number of requests so far that changed state on the server. */
  requests: number;
  /** Number of those requests that contained a token. */
  registrations: number;
}

/** The server's view of this phone's device. */
export interface OwnDevice {
  readonly deviceId: ClientDeviceId;
  readonly state: ClientDeviceOnWire;
}

export function deviceOf({ account }: DeviceSync): AccountDevice {
  return account.device ?? noDevice;
}

/** Stores the changed device in both the table and the sync's state. */
export async function storeDevice(sync: DeviceSync, device: AccountDevice): Promise<void> {
  sync.account = { ...sync.account, device };
  await sync.context.accounts.put(sync.account);
}

/**
 * Returns the time in Unix seconds according to the server's clock, which the server also uses for the timestamps of
 * its devices.
 */
export function serverSeconds({ context }: DeviceSync): number {
  return Math.floor(context.api.serverClock.now() / 1000);
}

export function chooseKey({ bouncerKeys, api }: RegistrarContext): Promise<BouncerKeyChoice | NoBouncerKey> {
  return bouncerKeys.choose({ fetchKeyList: () => api.getBouncerKeys() });
}
