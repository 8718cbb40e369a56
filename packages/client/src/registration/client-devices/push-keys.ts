import { type PushKeyId, pushKeyBytes, pushKeyIdFromBytes } from '@waxwing/protocol/phone';
import { type AccountDevice, noDevice, type PushKey } from '../../accounts/account-device.js';
import type { PushAccount } from '../../accounts/push-account.js';
import type { RegistrarContext } from '../registrar-context.js';

const rotationMilliseconds = 30 * 86_400_000;
const mostTries = 100;

/** Returns the account's newest key, which the server should use. */
export function newestKey({ device }: PushAccount): PushKey | undefined {
  const { pushKeys } = device ?? noDevice;
  return pushKeys[pushKeys.length - 1];
}

/**
 * Adds a random key to the account and stores the account, so that the key is stored before it is sent. Returns the row
 * that is in the table afterwards, whose newest key may come from another tab.
 *
 * @throws Error if 100 random ids in a row are already in use, which means that the random source is broken.
 */
export async function addPushKey(context: RegistrarContext, account: PushAccount): Promise<PushAccount> {
  const { accounts, sodium, clock } = context;
  const pushKeyId = await pickPushKeyId(context);
  const device = account.device ?? noDevice;
  const added = { pushKeyId, key: sodium.randomBytes(pushKeyBytes), createdAt: clock() };
  const row = { ...account, device: { ...device, pushKeys: [...device.pushKeys, added] } };
  await accounts.put(row);
  const stored = await accounts.get(account.pushAccountId);
  return stored !== undefined && newestKey(stored) !== undefined ? stored : row;
}

async function pickPushKeyId({ accounts, random }: RegistrarContext): Promise<PushKeyId> {
  const keys = (await accounts.list()).flatMap(({ device }) => device?.pushKeys ?? []);
  const taken = new Set(keys.map(({ pushKeyId }) => pushKeyId));
  for (let tries = 0; tries < mostTries; tries += 1) {
    const pushKeyId = pushKeyIdFromBytes(random(4));
    if (!taken.has(pushKeyId)) return pushKeyId;
  }
  throw new Error(
    `The random source returned ${mostTries} push key ids that are all in use, so it is broken.`,
  );
}

/** Returns whether the key in use is due for rotation. */
export function isRotationDue({ createdAt }: PushKey, now: number): boolean {
  // A date far in the future also counts as old, because it was recorded before the phone's clock was corrected.
  return Math.abs(now - createdAt) >= rotationMilliseconds;
}

/**
 * Records which key the server uses. Older keys are superseded as soon as the server uses a newer key. Returns the same
 * object if nothing changes.
 */
export function acknowledgeKey(device: AccountDevice, inUse: PushKeyId | null, now: number): AccountDevice {
  const index = device.pushKeys.findIndex(({ pushKeyId }) => pushKeyId === inUse);
  const pushKeys = device.pushKeys.map((pushKey, at) => {
    if (at < index) return pushKey.supersededAt === undefined ? { ...pushKey, supersededAt: now } : pushKey;
    if (at > index || pushKey.supersededAt === undefined) return pushKey;
    // The server uses a superseded key again because it was restored from a backup.
    const { supersededAt: _supersededAt, ...used } = pushKey;
    return used;
  });
  return pushKeys.every((pushKey, at) => pushKey === device.pushKeys[at]) ? device : { ...device, pushKeys };
}
