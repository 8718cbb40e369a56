import { formatPushAccountId } from '@waxwing/protocol';
import type { RelayDatabase } from '../relay-tables.js';
import type { BouncerKeys } from './bouncer-keys.js';
import type { OpenedRegistration, RegistrationStore } from './registration-store.js';
import type { NewRelayDevice } from './relay-device.js';
import { type RelayDeviceRow, RelayDeviceUpsert } from './relay-device-upsert.js';
import type { TokenVault } from './token-vault.js';

export interface DurableRegistrationsOptions {
  readonly database: RelayDatabase;
  readonly keyRing: BouncerKeys;
  readonly tokenVault: TokenVault;
}

/** {@link RegistrationStore} in the relay's database: one commit for all, with the count of each key's use. */
export class DurableRegistrations implements RegistrationStore {
  readonly #options: DurableRegistrationsOptions;
  readonly #upsert: RelayDeviceUpsert;

  constructor(options: DurableRegistrationsOptions) {
    this.#options = options;
    this.#upsert = new RelayDeviceUpsert(options.database.db);
  }

  async saveAll(registrations: readonly OpenedRegistration[], now: number): Promise<readonly number[]> {
    const { database, keyRing, tokenVault } = this.#options;
    const rows = registrations.map(({ device }) => toRow(device, tokenVault));
    const uses = new Map<string, number>();
    for (const { bouncerPublicKey: key } of registrations) uses.set(key, (uses.get(key) ?? 0) + 1);
    return database.write(async (transaction) => {
      const ids = await this.#upsert.run(transaction.db, rows);
      for (const [key, count] of uses) await keyRing.keyUsed(transaction, key, count, now);
      return ids;
    });
  }
}

function toRow(
  { realmId, pushAccountId, target, registeredAt }: NewRelayDevice,
  vault: TokenVault,
): RelayDeviceRow {
  const isApns = target.tokenKind === 'apns';
  return {
    realm_id: realmId,
    push_account_id: formatPushAccountId(pushAccountId),
    token_kind: target.tokenKind,
    token_lookup: vault.lookup(target.token),
    token: vault.seal(target.token),
    ios_app_id: isApns ? target.iosAppId : null,
    apns_environment: isApns ? target.apnsEnvironment : null,
    registered_at: registeredAt,
    expired_at: null,
  };
}
