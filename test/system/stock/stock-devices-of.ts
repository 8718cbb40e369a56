import { newPushKey, openNotification, type PushKey, readDelivered, StockPhone } from './stock-phone.js';
import type { StockServer, StockUser } from './stock-server.js';
import type { StockWorld, VendorDelivery } from './stock-world.js';

/** A phone and the device with which it has registered at a stock server, successfully or not. */
export interface StockDeviceOfPhone {
  readonly user: StockUser;
  readonly phone: StockPhone;
  readonly key: PushKey;
  readonly deviceId: number;
}

let used = 0;

/** Returns a unique token. */
export function newToken(kind: 'fcm' | 'apns'): string {
  used += 1;
  return kind === 'fcm'
    ? `fcm-${used}:APA91b_stock-`
    : `C0FFEE${used.toString(16).toUpperCase().padStart(58, '0')}`;
}

export async function newPhone(world: StockWorld, kind: 'fcm' | 'apns'): Promise<StockPhone> {
  const bouncerPublicKey = await world.bouncerPublicKey();
  return new StockPhone({ token: newToken(kind), kind, bouncerPublicKey, clock: world.clock });
}

/**
 * Registers a phone with a stock server, and makes the server's worker forward the registration. `changes` replace
 * fields of the request.
 */
export async function registerAt(
  server: StockServer,
  user: StockUser,
  phone: StockPhone,
  changes: Readonly<Record<string, string>> = {},
): Promise<StockDeviceOfPhone> {
  const key = newPushKey(phone.clock());
  const deviceId = Number(server.devices.add(user.userId).body.device_id);
  const answer = server.devices.register(user.userId, {
    device_id: String(deviceId),
    push_key_id: String(key.id),
    push_key: key.bytes.toString('base64'),
    ...phone.tokenGroup(),
    ...changes,
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  await server.work();
  return { user, phone, key, deviceId };
}

/** The decrypted contents of the notifications delivered to the phone's token. */
export function openedBy({ phone, key }: StockDeviceOfPhone, deliveries: readonly VendorDelivery[]) {
  return deliveries
    .filter(({ token }) => token === phone.token)
    .flatMap(({ body }) => {
      const read = readDelivered(body);
      return read === undefined || read.keyId !== key.id ? [] : [openNotification(read.encrypted, key)];
    });
}
