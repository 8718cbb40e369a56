import type { AccountDevice } from '../accounts/account-device.js';
import type { PushAccount } from '../accounts/push-account.js';
import type { RegistrarContext } from './registrar-context.js';

/** How long a key is kept after its last use: vendors store pushes for up to 30 days. */
const keptMilliseconds = 30 * 86_400_000;

/**
 * Destroys keys that have not been used for 30 days: superseded push keys, and the key pair of a removed registration
 * of the older generation. The key pair is replaced with a new one. Stores the account if anything changes, and returns
 * it.
 */
export async function destroyUnusedKeys(
  { accounts, sodium, clock }: RegistrarContext,
  account: PushAccount,
): Promise<PushAccount> {
  const { device: before, sequence: _sequence, ...row } = account;
  if (before === undefined) return account;
  const now = clock();
  const device = withoutFuture(before, now);
  const isUnused = (since: number | undefined) => since !== undefined && now - since >= keptMilliseconds;
  const unused = device.pushKeys.filter(({ supersededAt }) => isUnused(supersededAt));
  const pushKeys = device.pushKeys.filter((pushKey) => !unused.includes(pushKey));
  const { keyPairUnusedSince, ...rest } = device;
  const isPairUnused = isUnused(keyPairUnusedSince);
  if (unused.length === 0 && !isPairUnused && device === before) return account;
  const left: PushAccount = isPairUnused
    ? { ...row, keyPair: sodium.generateKeyPair(), device: { ...rest, pushKeys } }
    : { ...account, device: { ...device, pushKeys } };
  await accounts.put(left);
  for (const { key } of unused) sodium.wipe(key);
  if (isPairUnused) sodium.wipe(account.keyPair.privateKey);
  return left;
}

/**
 * Replaces times in the future with the current time, because they were recorded before the phone's clock was
 * corrected.
 */
function withoutFuture(device: AccountDevice, now: number): AccountDevice {
  const isAhead = (since: number | undefined) => since !== undefined && since > now;
  const isRight =
    !isAhead(device.keyPairUnusedSince) && !device.pushKeys.some(({ supersededAt }) => isAhead(supersededAt));
  if (isRight) return device;
  return {
    ...device,
    pushKeys: device.pushKeys.map((pushKey) =>
      isAhead(pushKey.supersededAt) ? { ...pushKey, supersededAt: now } : pushKey,
    ),
    ...(isAhead(device.keyPairUnusedSince) ? { keyPairUnusedSince: now } : {}),
  };
}
