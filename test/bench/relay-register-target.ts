import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RelayDeviceId } from '@waxwing/protocol';
import { createRelay, readRelayEnvironment } from '@waxwing/relay';
import { createHttpApp, type HttpService } from '@waxwing/service/http';
import { createLogger } from '@waxwing/service/logging';
import { Metrics } from '@waxwing/service/metrics';
import type { RelayContext } from '#relay/context.js';
import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { bindRelayOperations } from '#relay/operations.js';
import {
  RegistrationBatches,
  type RegistrationStore,
} from '#relay/registrations/opening/registration-batches.js';
import { SameTokenDevices } from '#relay/registrations/store/same-token-devices.js';
import type { TokenVault } from '#relay/registrations/store/token-vault.js';
import { toRow } from '#relay/registrations/write/durable-registrations.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { ringOnDisk, sodium } from '../apps/relay/keyring/ring-material.js';
import { relayDeviceId } from '../support/ids.js';
import type { RelayBenchTarget } from './relay-register.js';

/** The process that `relay-register` measures: a relay, and the same operations with a store that commits nothing. */

const realmUuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
const keys = newKeyRing(sodium, Date.now());
const ring = await ringOnDisk(keys, Date.now);
// Formats log lines of requests, as in production, and discards them.
const log = createLogger('bench', 'info', { write: () => undefined });
const environment = {
  RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}`,
  RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '100000000',
  ...ring.environment,
};
const relay = await createRelay(readRelayEnvironment(environment), { log });
const { context } = relay;
const server = await addServer(context.database, { name: 'bench', realmUuids: [realmUuid] }, Date.now());
const memory = await createInMemory(context);
const credentials = `${server.serverId}:${server.serverKey.reveal()}`;
const target: RelayBenchTarget = {
  durablePort: await listen(relay.app),
  memoryPort: await listen(memory),
  authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
  realmUuid,
  bouncerPublicKey: primaryKey(keys).publicKey,
};
process.send?.(target);
process.once('SIGTERM', async () => {
  await memory.close();
  await relay.close();
  for (const made of [folder, ring.folder]) rmSync(made, { recursive: true, force: true });
  process.exit(0);
});

async function listen(app: HttpService['app']): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Creates the relay's HTTP app with an in-memory store for registrations, which gives repeats the same id. */
function createInMemory(durable: RelayContext): Promise<HttpService['app']> {
  const registrations = new RegistrationBatches({
    ...durable,
    store: storeInMemory(durable.tokenVault),
    sameToken: new SameTokenDevices(durable),
  });
  const operations = bindRelayOperations({ ...durable, registrations });
  return createHttpApp({ log, metrics: new Metrics(), operations, readiness: {} });
}

function storeInMemory(vault: TokenVault): RegistrationStore {
  const ids = new Map<string, RelayDeviceId>();
  return {
    isIdle: false,
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
