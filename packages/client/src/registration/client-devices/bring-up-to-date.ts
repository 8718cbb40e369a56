import { formatPushAccountId } from '@waxwing/protocol/phone';
import { destroyUnusedKeys } from '../destroy-unused-keys.js';
import { findOrCreateAccount } from '../find-or-create-account.js';
import type { RegistrarContext } from '../registrar-context.js';
import type { RegistrationStatus } from '../registration-status.js';
import { followedTime } from '../registration-time.js';
import { isKeyRefusal, isSealedToFormerKey } from '../repeat-policy.js';
import { noUsableKey, settledStatus } from '../settled-status.js';
import type { SyncRun } from '../sync-run.js';
import { createDeviceStates } from './device-states.js';
import {
  chooseKey,
  type DeviceSync,
  deviceOf,
  type OwnDevice,
  serverSeconds,
  storeDevice,
} from './device-sync.js';
import { type DueGroups, dueGroups, isInProgress, isStuck, verdictOn } from './due-groups.js';
import { createDevice, findForgottenDevices, findStoredDevice } from './own-device.js';
import { acknowledgeKey, addPushKey, isRotationDue, newestKey } from './push-keys.js';
import { removeFormer } from './remove-former.js';
import { sendGroups } from './send-groups.js';
import { tokenIdOf } from './token-id-of.js';

/**
 * Maximum requests per sync. A sync with a consistent server never needs more. The limit ends a sync with a server that
 * returns contradictory states.
 */
const mostRequestsOfOneSync = 8;

/** Registers the phone as a device on the server: sends requests until the server's state matches the phone's. */
export async function bringUpToDate(context: RegistrarContext, run: SyncRun): Promise<RegistrationStatus> {
  const account = await findOrCreateAccount(context);
  const sync: DeviceSync = {
    context,
    run,
    account: newestKey(account) === undefined ? await addPushKey(context, account) : account,
    tokenId: tokenIdOf(run.pushToken),
    forgotten: await findForgottenDevices(context),
    states: createDeviceStates({ ...context, ...run }),
    key: await chooseKey(context),
    requests: 0,
    registrations: 0,
  };
  for (;;) {
    const status = await takeStep(sync);
    if (status !== undefined) return status;
  }
}

/** Performs the next step that is due. If no step is due, returns the status. */
async function takeStep(sync: DeviceSync): Promise<RegistrationStatus | undefined> {
  const { context, states, key } = sync;
  const own = await findStoredDevice(sync);
  const mayAsk = sync.requests < mostRequestsOfOneSync;
  if (own === undefined || isStuck(own.state, serverSeconds(sync))) {
    if (!mayAsk) return settle(sync, own);
    await createDevice(sync, own);
    return undefined;
  }
  await noteKeyInUse(sync, own);
  const due = groupsDue(sync, own);
  const sealedTo = due.token && key.source !== 'none' ? key : undefined;
  if (mayAsk && (due.key || sealedTo !== undefined)) {
    await sendGroups(sync, own, { withKey: due.key, sealedTo });
    return undefined;
  }
  if (due.token && key.source === 'none') return noUsableKey(sync.account, key);
  if (verdictOn(own.state, sync.tokenId) !== 'pending' || !(await states.next())) return settle(sync, own);
  const errorCode = states.all.get(own.deviceId)?.push_registration_error_code;
  if (isKeyRefusal(errorCode ?? undefined)) sync.key = await chooseKey(context);
  return undefined;
}

/**
 * Records which push key the server uses. Adds a new push key if that key is old or the relay has a new primary key.
 */
async function noteKeyInUse(sync: DeviceSync, { state }: OwnDevice): Promise<void> {
  const now = sync.context.clock();
  const device = acknowledgeKey(deviceOf(sync), state.push_key_id, now);
  if (device !== sync.account.device) await storeDevice(sync, device);
  const newest = newestKey(sync.account);
  if (newest === undefined || newest.pushKeyId !== state.push_key_id) return;
  const isResealDue = isSealedToFormerKey(sync.account.device?.sent, sync.key) && !isInProgress(state);
  if (isResealDue || isRotationDue(newest, now)) {
    sync.account = await addPushKey(sync.context, sync.account);
  }
}

function groupsDue(sync: DeviceSync, { state }: OwnDevice): DueGroups {
  const { context, run, account, tokenId, key, registrations } = sync;
  return dueGroups({
    state,
    tokenId,
    registrations,
    now: serverSeconds(sync),
    deviceNow: context.clock(),
    retryNow: run.retryNow,
    newestKeyId: newestKey(account)?.pushKeyId,
    sent: account.device?.sent,
    key: key.source === 'none' ? undefined : key,
    isServerTime: followedTime(context, key).isServerTime,
  });
}

/** Removes everything that an active device replaces, and returns the final status. */
async function settle(sync: DeviceSync, own: OwnDevice | undefined): Promise<RegistrationStatus> {
  const { context, key, tokenId } = sync;
  const time = followedTime(context, key);
  const verdict = own === undefined ? 'failed' : verdictOn(own.state, tokenId);
  if (own !== undefined && verdict === 'active') await removeFormer(sync, own);
  // Skipped while the clocks disagree, because a wrong clock could destroy keys that are still needed.
  if (time.clocksAgree) sync.account = await destroyUnusedKeys(context, sync.account);
  const ending = { context, account: sync.account, sent: deviceOf(sync).sent, key, time };
  const errorCode = own?.state.push_registration_error_code ?? undefined;
  if (verdict === 'active' || !isFormerActive(sync)) return settledStatus({ ...ending, verdict, errorCode });
  return settledStatus({ ...ending, verdict: 'active', errorCode, warning: formerWarning });
}

const formerWarning =
  'The server has been upgraded, but does not use the new registration of this phone yet: it still uses the previous registration.';

/** Returns whether the registration of the older generation still delivers notifications to this phone. */
function isFormerActive({ account, run }: DeviceSync): boolean {
  const former = run.queue.pushDevices.get(formatPushAccountId(account.pushAccountId));
  return former?.status === 'active' && account.registration?.pushToken.token === run.pushToken.token;
}
