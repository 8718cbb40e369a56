import type { AccountDevice } from '../../accounts/account-device.js';
import type { PushAccount } from '../../accounts/push-account.js';
import type { PushDeviceState } from '../../chat-api/event-queue.js';
import type { RegistrarContext } from '../registrar-context.js';

/**
 * Stops using the newer generation's keys after a server was downgraded. Keeps the push keys for 30 more days: they open
 * pushes in flight, and a single answer of a server that is being upgraded must not destroy them. Keeps the device's id, so
 * that a sign-out can remove the device from a server that was upgraded again.
 */
export async function leaveClientDevice(
  { accounts, clock }: RegistrarContext,
  account: PushAccount,
): Promise<PushAccount> {
  const { device, ...row } = account;
  if (device === undefined || hasLeft(device)) return account;
  const { sent: _sent, keyPairUnusedSince: _keyPairUnusedSince, ...kept } = device;
  const now = clock();
  const pushKeys = device.pushKeys.map((pushKey) => ({ supersededAt: now, ...pushKey }));
  const left: PushAccount = { ...row, device: { ...kept, pushKeys } };
  await accounts.put(left);
  return left;
}

/** Returns whether an account no longer uses its device. */
export function hasLeft({ pushKeys, sent, keyPairUnusedSince }: AccountDevice): boolean {
  const isInUse = pushKeys.some(({ supersededAt }) => supersededAt === undefined);
  return !isInUse && sent === undefined && keyPairUnusedSince === undefined;
}

/**
 * Returns whether the server has a public key whose private key was destroyed. This happens if the server is restored to a
 * time before the account's registration of this generation was removed.
 */
export function isKeyPairLost(account: PushAccount, known: PushDeviceState | undefined): boolean {
  return known !== undefined && account.sequence === undefined && account.registration === undefined;
}
