import type { AccountDevice } from '../../accounts/account-device.js';
import type { PushAccount } from '../../accounts/push-account.js';
import type { PushDeviceState } from '../../chat-api/event-queue.js';
import type { RegistrarContext } from '../registrar-context.js';

/**
 * Stops using the newer generation's keys after a server was downgraded. Keeps the push keys for another 30 days to
 * open pushes in flight. This also ensures that a single response from a server in the middle of an upgrade cannot
 * destroy them. Keeps the device id, so that a sign-out can remove the device if the server is upgraded again.
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
 * Returns whether the server has a public key whose private key was destroyed. This happens if the server is restored
 * from a backup that predates the removal of the account's registration.
 */
export function isKeyPairLost(account: PushAccount, known: PushDeviceState | undefined): boolean {
  return known !== undefined && account.sequence === undefined && account.registration === undefined;
}
