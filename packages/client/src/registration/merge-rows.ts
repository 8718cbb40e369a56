import { mergeDevices, noDevice } from '../accounts/account-device.js';
import type { PushAccount } from '../accounts/push-account.js';
import type { RegistrarContext } from './registrar-context.js';

/**
 * Merges the rows of an account that is in the table more than once. Keeps the first row, which takes over the push
 * keys and seen notifications of the other rows, and also a device if it has none. Returns the other rows, without the
 * device that the kept row uses. The caller must forget the returned rows.
 */
export async function mergeRows(
  { accounts, seen }: Pick<RegistrarContext, 'accounts' | 'seen'>,
  [first, ...others]: readonly PushAccount[],
): Promise<readonly PushAccount[]> {
  if (first === undefined) return others;
  let kept = first;
  for (const { device, pushAccountId } of others) {
    if (device === undefined) continue;
    kept = { ...kept, device: mergeDevices(kept.device ?? noDevice, device) };
    // Copies the seen notifications before the first row gets the keys. Otherwise the first row could open replays of
    // notifications that the other row has already opened.
    await seen.copy(pushAccountId, first.pushAccountId);
  }
  // Stores the kept row first, so that a crash in between leaves an extra row rather than a device without a row.
  if (kept !== first) await accounts.put(kept);
  return others.map(({ device, ...row }) => {
    const isUsed = device === undefined || device.deviceId === kept.device?.deviceId;
    return isUsed ? row : { ...row, device };
  });
}
