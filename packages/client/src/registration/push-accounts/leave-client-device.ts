import type { PushAccount } from '../../accounts/push-account.js';
import type { PushDeviceState } from '../../chat-api/event-queue.js';
import type { RegistrarContext } from '../registrar-context.js';

/**
 * Drops what the newer generation needs, after a server was downgraded: its push keys are destroyed. The device's id
 * stays, so that a sign-out names it to a server that was upgraded again.
 */
export async function leaveClientDevice(
  { accounts, sodium }: RegistrarContext,
  account: PushAccount,
): Promise<PushAccount> {
  const { device, ...row } = account;
  if (device === undefined || isEmpty(device)) return account;
  const { deviceId } = device;
  const left: PushAccount = deviceId === undefined ? row : { ...row, device: { deviceId, pushKeys: [] } };
  await accounts.put(left);
  for (const { key } of device.pushKeys) sodium.wipe(key);
  return left;
}

function isEmpty({ pushKeys, sent, keyPairUnusedSince }: NonNullable<PushAccount['device']>): boolean {
  return pushKeys.length === 0 && sent === undefined && keyPairUnusedSince === undefined;
}

/**
 * Whether the server has a public key whose private half is destroyed: a server that was restored to a time before the
 * account's registration of this generation was removed.
 */
export function isKeyPairLost(account: PushAccount, known: PushDeviceState | undefined): boolean {
  return known !== undefined && account.sequence === undefined && account.registration === undefined;
}
