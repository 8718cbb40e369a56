import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRelay, type Relay, readRelayEnvironment } from '@waxwing/relay';
import { addUser, createServer, readServerEnvironment, roles, type Server } from '@waxwing/server';
import { listen } from '@waxwing/service/http';
import { raiseIdCounter } from '@waxwing/storage';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { addServer } from '#relay/servers/manage-servers.js';
import { type RingOnDisk, ringOnDisk } from '../apps/relay/keyring/ring-material.js';
import { type DatabaseCopies, postgresCopies, sqliteCopies } from './database-copies.js';
import { freePort } from './free-ports.js';
import { createMemoryLog } from './memory-log.js';
import { testPostgresUrl } from './test-databases.js';

/** The side whose database is backed up and restored. */
export type StoredSide = 'relay' | 'server';

export interface RestorableAccount {
  readonly userId: number;
  readonly email: string;
  readonly apiKey: string;
}

export const restorableRealm = { url: 'https://chat.example.com', name: 'Restored' };

/** Relay, server and vendors in this process. The databases of relay and server can be restored to earlier states. */
export class RestorableWorld {
  readonly vendors: Vendors;
  readonly ring: RingOnDisk;
  readonly copies: DatabaseCopies;
  readonly relayPort: number;
  readonly dir: string;
  accounts: readonly RestorableAccount[] = [];
  runs = 0;
  /** Milliseconds by which all clocks are ahead of the system clock. */
  readonly time: { ahead: number };
  readonly clock: () => number;
  #relay: Relay | undefined;
  #server: Server | undefined;

  private constructor(
    parts: Pick<RestorableWorld, 'vendors' | 'ring' | 'copies' | 'relayPort' | 'dir' | 'time' | 'clock'>,
  ) {
    this.time = parts.time;
    this.clock = parts.clock;
    this.vendors = parts.vendors;
    this.ring = parts.ring;
    this.copies = parts.copies;
    this.relayPort = parts.relayPort;
    this.dir = parts.dir;
  }

  static async create(backend: 'sqlite' | 'postgres'): Promise<RestorableWorld> {
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-restored-'));
    const copies = backend === 'sqlite' ? sqliteCopies(dir) : postgresCopies(testPostgresUrl ?? '');
    const time = { ahead: 0 };
    const clock = (): number => Date.now() + time.ahead;
    const vendors = await startVendors({ dataDir: join(dir, 'vendors'), clock });
    const ring = await ringOnDisk(undefined, clock);
    const parts = { vendors, ring, copies, relayPort: await freePort(), dir, time, clock };
    const world = new RestorableWorld(parts);
    await world.#provision();
    return world;
  }

  /** Returns the relay. Starts it if it is not running. */
  async relay(): Promise<Relay> {
    if (this.#relay !== undefined) return this.#relay;
    const apps = {
      fcm: [{ service_account_file: this.vendors.credentials.serviceAccountFile }],
    };
    writeFileSync(join(this.dir, 'apps.json'), JSON.stringify(apps), { mode: 0o600 });
    const configuration = readRelayEnvironment({
      ...this.ring.environment,
      RELAY_PORT: String(this.relayPort),
      RELAY_DATABASE: this.copies.url('relay'),
      RELAY_APPS_FILE: join(this.dir, 'apps.json'),
      RELAY_FCM_BASE_URL: this.vendors.urls.fcm,
      RELAY_APNS_PRODUCTION_URL: this.vendors.urls.apnsProduction,
      RELAY_APNS_SANDBOX_URL: this.vendors.urls.apnsSandbox,
    });
    const { log } = createMemoryLog();
    const { clock } = this;
    const relay = await createRelay(configuration, { log, clock, monotonic: clock });
    await listen(relay, configuration);
    this.#relay = relay;
    return relay;
  }

  /** Returns the server. Starts it if it is not running. */
  async server(): Promise<Server> {
    if (this.#server !== undefined) return this.#server;
    const configuration = readServerEnvironment({
      SERVER_DATABASE: this.copies.url('server'),
      SERVER_UPLOADS: `disk:${join(this.dir, 'uploads')}`,
      SERVER_REALM_URL: restorableRealm.url,
      SERVER_REALM_NAME: restorableRealm.name,
      SERVER_REGISTRATIONS_PER_HOUR: '100000',
      ...this.#relayAccount,
    });
    this.#server = await createServer(configuration, { log: createMemoryLog().log, clock: this.clock });
    return this.#server;
  }

  async stop(side: StoredSide): Promise<void> {
    if (side === 'relay') {
      await this.#relay?.close();
      this.#relay = undefined;
    } else {
      await this.#server?.close();
      this.#server = undefined;
    }
  }

  /**
   * Installs new databases, and returns the name of the relay's copy. `isAhead`: whether the relay's id counter is
   * ahead of the clock.
   */
  async reset({ isAhead }: { readonly isAhead: boolean }): Promise<string> {
    const relayCopy = isAhead ? 'relay-ahead' : 'relay-new';
    for (const side of ['relay', 'server'] as const) await this.stop(side);
    await this.copies.copy(relayCopy, 'relay');
    await this.copies.copy('server-new', 'server');
    this.runs += 1;
    return relayCopy;
  }

  async close(): Promise<void> {
    await this.stop('server');
    await this.stop('relay');
    await this.vendors.close();
    await this.copies.close();
    for (const folder of [this.dir, this.ring.folder]) rmSync(folder, { recursive: true, force: true });
  }

  #relayAccount: Record<string, string> = {};

  /** Adds the users, and adds the server to the relay. Runs before any backup. */
  async #provision(): Promise<void> {
    for (const side of ['relay', 'server'] as const) await this.copies.make(side);
    const server = await this.server();
    const added: RestorableAccount[] = [];
    for (const name of ['ada', 'bob']) {
      const email = `${name}@example.com`;
      const { user, apiKey } = await addUser(
        server.database,
        { clock: this.clock, realm: restorableRealm },
        { email, fullName: name, role: roles.member, isBot: false, ownerEmail: undefined },
      );
      added.push({ userId: user.id, email, apiKey: apiKey.reveal() });
    }
    this.accounts = added;
    const { realmUuid } = server;
    const relay = await this.relay();
    const { database } = relay.context;
    const { serverId, serverKey } = await addServer(
      database,
      { name: 'ours', realmUuids: [realmUuid] },
      this.clock(),
    );
    const keyFile = join(this.dir, 'server-key');
    writeFileSync(keyFile, serverKey.reveal(), { mode: 0o600 });
    this.#relayAccount = {
      SERVER_RELAY_URL: `http://127.0.0.1:${this.relayPort}`,
      SERVER_RELAY_SERVER_ID: serverId,
      SERVER_RELAY_SERVER_KEY_FILE: keyFile,
    };
    await this.stop('server');
    await this.copies.copy('server', 'server-new');
    await this.stop('relay');
    await this.copies.copy('relay', 'relay-new');
    await raiseIdCounter((await this.relay()).context.database, 'relay_devices', 2 ** 52);
    await this.stop('relay');
    await this.copies.copy('relay', 'relay-ahead');
  }
}
