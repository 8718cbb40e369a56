import {
  type ClientDeviceId,
  encodePushKey,
  type JsonObject,
  type PushKeyId,
  parseClientDeviceId,
  registerClientDevicePath,
  registerPushDevicePath,
  removeClientDevicePath,
  type TokenId,
  type TokenKind,
} from '@waxwing/protocol/phone';
import { UnreachableError } from './api-error.js';
import type { FormFields } from './form.js';

/** Parameters of `POST /mobile_push/register` in the newer generation: a key, a token, or both. */
export interface ClientDeviceUpdate {
  readonly deviceId: ClientDeviceId;
  /** `key` is 32 bytes long. */
  readonly pushKey?: { readonly pushKeyId: PushKeyId; readonly key: Uint8Array } | undefined;
  readonly token?:
    | {
        readonly tokenKind: TokenKind;
        readonly tokenId: TokenId;
        /** Base64, like `encryptedPushRegistration`. */
        readonly bouncerPublicKey: string;
        readonly encryptedPushRegistration: string;
      }
    | undefined;
}

/** Operations for devices of the newer generation (docs/protocol.md#device-events). */
export interface ClientDeviceApi {
  /** Creates a device without a key or token. Returns its id. */
  registerClientDevice(): Promise<ClientDeviceId>;
  /**
   * Sends a push key, a sealed token, or both to the server. Success does not mean that the token is active: the server
   * forwards it to the relay later.
   */
  updateClientDevice(update: ClientDeviceUpdate): Promise<void>;
  /** Deletes one of the user's devices from the server. */
  removeClientDevice(deviceId: ClientDeviceId): Promise<void>;
}

/**
 * Creates the operations for client devices.
 *
 * @param post sends form fields to a path as the user, and returns the response.
 */
export function clientDeviceApi(
  post: (path: string, fields: FormFields) => Promise<JsonObject>,
): ClientDeviceApi {
  return {
    async registerClientDevice() {
      const deviceId = parseClientDeviceId((await post(registerClientDevicePath, {})).device_id);
      if (deviceId === undefined) {
        throw new UnreachableError("The server's response to /register_client_device contains no device id.");
      }
      return deviceId;
    },
    async updateClientDevice({ deviceId, pushKey, token }) {
      await post(registerPushDevicePath, {
        device_id: deviceId,
        push_key_id: pushKey?.pushKeyId,
        push_key: pushKey && encodePushKey(pushKey.key),
        token_kind: token?.tokenKind,
        token_id: token?.tokenId,
        bouncer_public_key: token?.bouncerPublicKey,
        encrypted_push_registration: token?.encryptedPushRegistration,
      });
    },
    async removeClientDevice(deviceId) {
      await post(removeClientDevicePath, { device_id: deviceId });
    },
  };
}
