import { mergeDevices, noDevice } from '../accounts/account-device.js';
import type { PushAccount } from '../accounts/push-account.js';
import type { PushAccountStore } from '../accounts/push-account-store.js';

/**
 * Of an account that the table has more than once, the first row is kept. It takes over the others' push keys, and their
 * device if it has none. Returns the other rows as they must be forgotten: without a device that the kept row uses.
 */
export async function mergeRows(
  accounts: PushAccountStore,
  [first, ...others]: readonly PushAccount[],
): Promise<readonly PushAccount[]> {
  if (first === undefined) return others;
  let kept = first;
  for (const { device } of others) {
    if (device !== undefined) kept = { ...kept, device: mergeDevices(kept.device ?? noDevice, device) };
  }
  // First: a crash in between leaves a row too many, instead of a device that no row knows.
  if (kept !== first) await accounts.put(kept);
  return others.map(({ device, ...row }) => {
    const isUsed = device === undefined || device.deviceId === kept.device?.deviceId;
    return isUsed ? row : { ...row, device };
  });
}
