import type { AnyPushRequest, RelayDeviceId, TokenId } from '@waxwing/protocol';
import { Batcher } from '@waxwing/service/lifecycle';
import { addresseeOfToken } from '../../registrations/store/addressee.js';
import {
  type FoundTokenDevices,
  findDevicesByToken,
  type KeyOfToken,
} from '../../registrations/store/devices-by-token.js';
import { type FoundRelayDevices, findRelayDevices } from '../../registrations/store/relay-device-store.js';
import type { TokenVault } from '../../registrations/store/token-vault.js';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayDatabase } from '../../tables.js';
import type { EncryptedNotification } from '../delivery.js';

/** Devices found for one request. */
export type FoundDevices = Pick<FoundRelayDevices, 'find'>;

/** Batches the device look-ups of one event-loop tick: by token in the newer generation, and by id in the older one. */
export class DeviceLookUps {
  readonly #byId: Batcher<readonly RelayDeviceId[], FoundRelayDevices>;
  readonly #byToken: Batcher<readonly KeyOfToken[], FoundTokenDevices>;

  constructor({
    database,
    tokenVault,
  }: { readonly database: RelayDatabase; readonly tokenVault: TokenVault }) {
    this.#byId = new Batcher(async (wanted) => {
      const found = await findRelayDevices(database.db, wanted.flat(), tokenVault);
      return wanted.map(() => found);
    });
    this.#byToken = new Batcher(async (wanted) => {
      const found = await findDevicesByToken(database.db, wanted.flat(), tokenVault);
      return wanted.map(() => found);
    });
  }

  /**
   * Finds the devices and ended keys for the tokens that push requests name. Returns `undefined` if no request names a
   * token.
   */
  findTokens(realmId: RealmId, requests: readonly AnyPushRequest[]): Promise<FoundTokenDevices> | undefined {
    const keys: KeyOfToken[] = [];
    for (const request of requests) {
      if (!('token_id' in request)) continue;
      const addressee = addresseeOfToken(request.token_id as TokenId);
      keys.push({ realmId, addressee, pushKeyId: request.payload.push_key_id });
    }
    return keys.length === 0 ? undefined : this.#byToken.add(keys);
  }

  /** Looks up the devices of notifications. `tokens` is the result of {@link findTokens} for the same requests. */
  async find(
    notifications: readonly EncryptedNotification[],
    tokens: FoundTokenDevices | undefined,
  ): Promise<FoundDevices> {
    const ids: RelayDeviceId[] = [];
    for (const { pushKeyId, relayDeviceId } of notifications) {
      if (pushKeyId === undefined && Number.isSafeInteger(relayDeviceId)) ids.push(relayDeviceId);
    }
    if (tokens === undefined) return this.#byId.add(ids);
    if (ids.length === 0) return tokens;
    const byId = await this.#byId.add(ids);
    return { find: (name) => tokens.find(name) ?? byId.find(name) };
  }
}
