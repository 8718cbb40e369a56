import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RelayDeviceId } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { bindOperations, createHttpApp } from '@waxwing/service/http';
import { systemClock } from '@waxwing/service/lifecycle';
import { createLogger } from '@waxwing/service/logging';
import { Metrics } from '@waxwing/service/metrics';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { Transaction } from 'kysely';
import type { KeyRingTables } from '#relay/keyring/key-ring-tables.js';
import { KeyRingTokenVault } from '#relay/keyring/key-ring-token-vault.js';
import { countKeyUses } from '#relay/keyring/key-uses.js';
import { newKeyRing } from '#relay/keyring/new-key-ring.js';
import { openRelayDatabase } from '#relay/open-database.js';
import { DurableRegistrations, toRow } from '#relay/registrations/durable-registrations.js';
import { registerDevice } from '#relay/registrations/register-device.js';
import type { RegistrationStore } from '#relay/registrations/registration-batches.js';
import { RegistrationBatches } from '#relay/registrations/registration-batches.js';
import type { RegistrationKeys } from '#relay/registrations/registration-keys.js';
import type { TokenVault } from '#relay/registrations/token-vault.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { ServerDirectory } from '#relay/servers/server-directory.js';
import { ServerQuotas } from '#relay/servers/server-quotas.js';
import { relayDeviceId } from '../support/ids.js';
import type { RelayBenchTarget } from './relay-register.js';

/** The process that `relay-register` measures: the same operation on two ports, one that commits and one that does not. */

const clock = systemClock;
const realmUuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
const { sodium } = await loadFastestSodium();
const pair = sodium.generateKeyPair();
const bouncerPublicKey = Buffer.from(pair.publicKey).toString('base64');

const keyRing: RegistrationKeys = {
  takeOver: async () => undefined,
  find: (key) => (key === bouncerPublicKey ? pair : undefined),
  keyUsed: (transaction, publicKey, registrations, now) => {
    const db = transaction.db as unknown as Transaction<KeyRingTables>;
    transaction.beforeCommit(() => countKeyUses(db, [{ publicKey, registrations, now }], 0));
  },
};
const ring = newKeyRing(sodium, clock());
const tokenVault = new KeyRingTokenVault(() => ring, clock, sodium);
const database = await openRelayDatabase({
  url: new Secret(`sqlite:${join(folder, 'relay.sqlite')}`),
  role: 'serving',
  clock,
  onJobError: (error) => console.error(error),
});
const server = await addServer(database, { name: 'bench', realmUuids: [realmUuid] }, clock());
const servers = new ServerDirectory(database.db, clock);
const durable = await listen(new DurableRegistrations({ database, keyRing, tokenVault }));
const memory = await listen(inMemory(tokenVault));
const credentials = `${server.serverId}:${server.serverKey.reveal()}`;
const target: RelayBenchTarget = {
  durablePort: durable.port,
  memoryPort: memory.port,
  authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
  realmUuid,
  bouncerPublicKey,
};
process.send?.(target);
process.once('SIGTERM', async () => {
  await Promise.all([durable.close(), memory.close()]);
  await database.close();
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});

async function listen(store: RegistrationStore) {
  // The line of each request is made, as in production, and dropped.
  const log = createLogger('bench', 'info', { write: () => undefined });
  const registrations = new RegistrationBatches({ clock, sodium, keyRing, store });
  const quotas = new ServerQuotas(100_000_000, clock);
  const operations = bindOperations({ servers, registrations, quotas }, [registerDevice]);
  const app = await createHttpApp({ log, metrics: new Metrics(), operations, readiness: {} });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}

/** The same promise without a database: what was saved is in memory alone. */
function inMemory(vault: TokenVault): RegistrationStore {
  const ids = new Map<string, RelayDeviceId>();
  return {
    async saveAll(registrations) {
      return registrations.map(({ device }) => {
        const { row } = toRow(device, vault);
        const identity = `${row.realm_id} ${row.push_account_id} ${row.token_lookup}`;
        const id = ids.get(identity) ?? relayDeviceId(ids.size + 1);
        ids.set(identity, id);
        return id;
      });
    },
  };
}
