import { ConfigurationError } from '@waxwing/service/config';
import type { Kysely } from 'kysely';
import type { AdminNames } from '../admin-names.js';
import { PushAccountError } from '../relay-account/account-errors.js';
import { enabledAccount } from '../relay-account/account-store.js';
import { openAccount } from '../relay-account/enable-relay.js';
import type { RelayAccount } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import type { AccountSettings } from './account-settings.js';
import { readRelayKey } from './read-relay-key.js';
import { readRelayNetwork } from './read-relay-network.js';
import { readSecretKey } from './read-secret-key.js';

export interface FoundAccount {
  readonly account: RelayAccount;
  /** The relay's signing key, if `push enable` pinned it. */
  readonly pinnedSigningKey: string | undefined;
}

/**
 * Finds the relay account in use: the account in the RELAY_ settings, otherwise the account that `push enable` stored.
 * @throws ConfigurationError if a key file cannot be used.
 */
export async function findRelayAccount(
  { db }: { readonly db: Kysely<ServerPushTables> },
  { relay, pushAccount, relayNetwork }: AccountSettings,
  names: AdminNames,
): Promise<FoundAccount> {
  const network = await readRelayNetwork(relayNetwork, names);
  if (relay.kind === 'configured') {
    const account = { ...(await readRelayKey(relay, names)), network };
    return { account, pinnedSigningKey: undefined };
  }
  const row = await enabledAccount(db);
  if (row === undefined) return { account: relay, pinnedSigningKey: undefined };
  const secretKey = await readSecretKey(pushAccount, names);
  try {
    return {
      account: openAccount({ secretKey, network, names }, row),
      pinnedSigningKey: row.signing_public_key ?? undefined,
    };
  } catch (error) {
    if (error instanceof PushAccountError) throw new ConfigurationError([error.message], { cause: error });
    throw error;
  }
}
