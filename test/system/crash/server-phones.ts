import {
  type JsonObject,
  registerClientDevicePath,
  registerPushDevicePath,
  stringifyJson,
} from '@waxwing/protocol';
import type { Asked } from './ask.js';
import type { CrashPhone } from './crash-phone.js';

/** A phone that is registered with a server. */
export interface ServerPhone {
  readonly phone: CrashPhone;
  /** Request parameter that identifies the phone to the server, for example to request a test notification. */
  readonly name: Readonly<Record<string, string>>;
}

/** Sends a request to the server, and retries it until the server responds. */
export type AskServer = (path: string, form: Readonly<Record<string, string>>) => Promise<Asked>;

/** Registers a phone in its generation. @throws Error for a response that a working server would not send. */
export async function registerWithServer(phone: CrashPhone, ask: AskServer): Promise<ServerPhone> {
  if (phone.generation === 'older') {
    requireSuccess(await ask(registerPushDevicePath, phone.registration));
    return { phone, name: { push_account_id: phone.pushAccountId } };
  }
  const created = requireSuccess(await ask(registerClientDevicePath, {}));
  const name = { device_id: String(created.device_id) };
  const registered = await ask(registerPushDevicePath, { ...name, ...phone.deviceRegistration });
  // "Already in progress": an earlier request succeeded, but its response was lost.
  if (!String(registered.body.msg).endsWith('already in progress.')) requireSuccess(registered);
  return { phone, name };
}

function requireSuccess({ status, body }: Asked): JsonObject {
  if (status === 200) return body;
  throw new Error(`the server responded to a registration with ${status}: ${stringifyJson(body)}`);
}

/** Names of the initial state in which the server lists phones of both generations. */
export const stateTypes = '["push_device","device"]';

/** The phone's status in the initial state: `pending`, `active`, or the reason why it will never be active. */
export function statusIn(
  { push_devices: accounts, devices }: JsonObject,
  { phone, name }: ServerPhone,
): string {
  if (phone.generation === 'older') {
    const account = (accounts as Record<string, JsonObject>)[phone.pushAccountId];
    if (account === undefined) return 'gone';
    return account.status === 'failed' ? `failed with ${String(account.error_code)}` : String(account.status);
  }
  const device = (devices as Record<string, JsonObject>)[name.device_id ?? ''];
  if (device === undefined) return 'gone';
  const { push_registration_error_code: code, pending_push_token_id: pending, push_token_id: token } = device;
  if (code !== null) return `failed with ${String(code)}`;
  if (pending !== null) return 'pending';
  return token === phone.tokenId ? 'active' : `with the token ${String(token)}`;
}
