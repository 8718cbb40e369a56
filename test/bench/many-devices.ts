import { randomBytes } from 'node:crypto';
import { DatabaseSync } from '@photostructure/sqlite';
import { Secret } from '@waxwing/service/config';
import { systemClock } from '@waxwing/service/lifecycle';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { readKeysOfRing } from '#relay/keyring/open-key-ring.js';
import { readKeyRingEnvironmentAlone } from '#relay/keyring/storage/key-ring-configuration.js';
import { openRelayDatabase } from '#relay/open-database.js';
import { bindingOfToken, type TokenRow, type TokenVault } from '#relay/registrations/store/token-vault.js';
import { accountIdText, realmId } from '../support/ids.js';

/** Id of the only realm in a new world. */
const onlyRealm = 1;

/** Reads the key ring of the relay with these settings, and returns the ring's token vault. */
export async function tokenVaultOf(relayEnv: Readonly<Record<string, string>>): Promise<TokenVault> {
  const clock = systemClock;
  const { sodium } = await loadFastestSodium();
  const url = new Secret(relayEnv.RELAY_DATABASE ?? '');
  const onJobError = (error: unknown): void => console.error(error);
  const database = await openRelayDatabase({ url, role: 'visiting', clock, onJobError });
  try {
    const options = { sodium, clock, database };
    return (await readKeysOfRing(readKeyRingEnvironmentAlone(relayEnv), options)).tokenVault;
  } finally {
    await database.close();
  }
}

/** Inserts random devices of the first realm into the relay's SQLite file. No relay may have the file open. */
export function fillDevices(path: string, rows: number, vault: TokenVault): void {
  const database = new DatabaseSync(path);
  try {
    database.exec('pragma synchronous = off; begin');
    const insert = database.prepare(
      `insert into relay_devices (realm_id, push_account_id, token_kind, token_lookup, token, registered_at)
       values (?, ?, 'fcm', ?, ?, ${Date.now()})`,
    );
    for (let row = 0; row < rows; row += 1) {
      const { realm_id, push_account_id, token_lookup, token } = newDeviceRow(vault, onlyRealm);
      insert.run(realm_id, push_account_id, token_lookup, token);
    }
    database.exec('commit');
  } finally {
    database.close();
  }
}

/**
 * Creates a row with a token of FCM's usual length. Its keys are as random as real keys, so inserts hit all index
 * pages.
 */
export function newDeviceRow(vault: TokenVault, realm: number): TokenRow & { readonly token: string } {
  const token = randomBytes(71).toString('hex');
  const [token_lookup] = vault.lookups(token);
  const place = {
    realm_id: realmId(realm),
    push_account_id: accountIdText(randomBytes(8).readBigInt64BE().toString()),
    token_lookup,
  };
  return { ...place, token: vault.seal(token, bindingOfToken(place)) };
}
