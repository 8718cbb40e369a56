import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRelay, type Relay, type RelayOverrides, readRelayEnvironment } from '@waxwing/relay';
import { addUser, createServer, readServerEnvironment, roles, type Server } from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { listen } from '@waxwing/service/http';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { type RingOnDisk, ringOnDisk } from '../../apps/relay/keyring/ring-material.js';
import { freePort } from '../../support/free-ports.js';
import { idle } from '../../support/idle.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { askByHttp } from './ask-servers.js';
import type { StockCredentials } from './relay-requests.js';
import { StockServer } from './stock-server.js';

/** A user of our server. */
export interface WorldUser {
  readonly userId: number;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
}

/** A notification that a vendor accepted. */
export interface VendorDelivery {
  readonly vendor: 'fcm' | 'apns';
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

type Environment = Readonly<Record<string, string>>;

interface WorldParts {
  readonly dir: string;
  readonly vendors: Vendors;
  readonly ring: RingOnDisk;
  readonly relayPort: number;
  readonly serverPort: number;
  readonly time: { ahead: number };
  readonly clock: () => number;
}

/** Our relay and our server on loopback, with stand-ins for the vendors and with stock servers. All share one clock. */
export class StockWorld {
  readonly dir: string;
  readonly vendors: Vendors;
  readonly ring: RingOnDisk;
  readonly relayUrl: string;
  readonly serverUrl: string;
  /** Milliseconds by which all clocks are ahead of the system clock. */
  readonly time: { ahead: number };
  readonly clock: () => number;
  readonly #parts: WorldParts;
  #relay: Relay | undefined;
  #server: Server | undefined;

  private constructor(parts: WorldParts) {
    this.#parts = parts;
    this.dir = parts.dir;
    this.vendors = parts.vendors;
    this.ring = parts.ring;
    this.time = parts.time;
    this.clock = parts.clock;
    this.relayUrl = `http://127.0.0.1:${parts.relayPort}`;
    this.serverUrl = `http://127.0.0.1:${parts.serverPort}`;
  }

  static async create(): Promise<StockWorld> {
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-stock-'));
    const time = { ahead: 0 };
    const clock = (): number => Date.now() + time.ahead;
    const vendors = await startVendors({ dataDir: join(dir, 'vendors'), clock });
    const ring = await ringOnDisk(undefined, clock);
    const relayPort = await freePort(2);
    return new StockWorld({ dir, vendors, ring, relayPort, serverPort: relayPort + 1, time, clock });
  }

  get relay(): Relay {
    if (this.#relay === undefined) throw new Error('the relay is not running');
    return this.#relay;
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error('the server is not running');
    return this.#server;
  }

  get isRelayRunning(): boolean {
    return this.#relay !== undefined;
  }

  /** Starts the relay on its existing data. Stops a running one first. */
  async startRelay(
    environment: Environment = {},
    given: Pick<RelayOverrides, 'hostNetwork'> = {},
  ): Promise<Relay> {
    await this.stopRelay();
    const { credentials, urls } = this.vendors;
    const { apnsTeamId: team_id, apnsKeyId: key_id, apnsKeyFile: key_file } = credentials;
    const apps = {
      fcm: [{ service_account_file: credentials.serviceAccountFile }],
      apns: [{ team_id, key_id, key_file, topics: '*' }],
    };
    writeFileSync(join(this.dir, 'apps.json'), JSON.stringify(apps), { mode: 0o600 });
    const configuration = readRelayEnvironment({
      ...this.ring.environment,
      RELAY_PORT: String(this.#parts.relayPort),
      RELAY_DATABASE: `sqlite:${join(this.dir, 'relay.sqlite')}`,
      RELAY_APPS_FILE: join(this.dir, 'apps.json'),
      RELAY_FCM_BASE_URL: urls.fcm,
      RELAY_APNS_PRODUCTION_URL: urls.apnsProduction,
      RELAY_APNS_SANDBOX_URL: urls.apnsSandbox,
      RELAY_APNS_CA_FILE: credentials.caFile,
      ...environment,
    });
    const { clock } = this;
    const { log } = createMemoryLog();
    this.#relay = await createRelay(configuration, { log, clock, monotonic: clock, ...given });
    await listen(this.#relay, configuration);
    return this.#relay;
  }

  async stopRelay(): Promise<void> {
    const relay = this.#relay;
    this.#relay = undefined;
    await relay?.close();
  }

  /** Starts our server. Adds it to the relay if the relay does not know it. */
  async startServer(environment: Environment = {}): Promise<Server> {
    const own = {
      SERVER_PORT: String(this.#parts.serverPort),
      SERVER_DATABASE: `sqlite:${join(this.dir, 'server.sqlite')}`,
      SERVER_UPLOADS: `disk:${join(this.dir, 'uploads')}`,
      SERVER_REALM_URL: this.serverUrl,
      SERVER_REALM_NAME: 'Ours',
      SERVER_REGISTRATIONS_PER_HOUR: '100000',
      ...environment,
    };
    const overrides = { log: createMemoryLog().log, clock: this.clock };
    const unconnected = await createServer(readServerEnvironment(own), overrides);
    await unconnected.close();
    const keyFile = join(this.dir, 'server-key');
    const { serverId, serverKey } = await this.credentialsFor('ours', unconnected.realmUuid);
    writeFileSync(keyFile, serverKey, { mode: 0o600 });
    const configuration = readServerEnvironment({
      ...own,
      SERVER_RELAY_URL: this.relayUrl,
      SERVER_RELAY_SERVER_ID: serverId,
      SERVER_RELAY_SERVER_KEY_FILE: keyFile,
    });
    this.#server = await createServer(configuration, overrides);
    await listen(this.#server, configuration);
    return this.#server;
  }

  /** Creates a stock server with one realm. Without `credentials`, adds both to the relay, as its operator would. */
  async stockServer(
    name: string,
    { credentials, relayUrl = this.relayUrl }: { credentials?: StockCredentials; relayUrl?: string } = {},
  ): Promise<StockServer> {
    const realm = { uuid: randomUUID(), url: `https://${name}.example.com`, name };
    const own = credentials ?? (await this.credentialsFor(name, realm.uuid));
    return new StockServer({ relayUrl, credentials: own, realm, clock: this.clock });
  }

  async credentialsFor(name: string, realmUuid: string): Promise<StockCredentials> {
    const { database } = this.relay.context;
    const added = await addServer(database, { name, realmUuids: [realmUuid] }, this.clock());
    return { serverId: added.serverId, serverKey: added.serverKey.reveal() };
  }

  /** Adds a user with a password to our server. */
  async addUser(name: string): Promise<WorldUser> {
    const { database } = this.server;
    const email = `${name}@example.com`;
    const { user, apiKey } = await addUser(
      database,
      { clock: this.clock, realm: { url: this.serverUrl } },
      { email, fullName: name, role: roles.member, isBot: false, ownerEmail: undefined },
    );
    const password = `password of ${name}`;
    await this.setPassword({ email, password });
    return { userId: user.id, email, password, apiKey: apiKey.reveal() };
  }

  /** Sets the password, even if unchanged. This revokes the user's API keys and removes the user's push devices. */
  async setPassword({ email, password }: Pick<WorldUser, 'email' | 'password'>): Promise<void> {
    await setPassword(this.server.database, this.clock, email, async () => new Secret(password));
  }

  /** Sends a request to our server as one of its users. */
  async ask(
    { email, apiKey }: WorldUser,
    method: 'GET' | 'POST',
    path: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<Record<string, unknown>> {
    const authorization = `Basic ${btoa(`${email}:${apiKey}`)}`;
    const { status, body } = await askByHttp(this.serverUrl)(method, path, fields, authorization);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Sends a direct message at our server. Returns the message id. */
  async sendMessage(from: WorldUser, to: WorldUser, content = 'hello'): Promise<number> {
    const fields = { type: 'direct', to: JSON.stringify([to.userId]), content };
    return Number((await this.ask(from, 'POST', 'messages', fields)).id);
  }

  /** The public key for which phones seal registrations. */
  bouncerPublicKey(): Promise<string> {
    return this.ring.keeper.look((ring) => primaryKey(ring).publicKey);
  }

  /** Returns the notifications that vendors have accepted since the last call. */
  async takeDeliveries(): Promise<VendorDelivery[]> {
    const url = `${this.vendors.urls.http}/deliveries`;
    const { deliveries } = (await (await fetch(url)).json()) as { deliveries: VendorDelivery[] };
    await fetch(url, { method: 'DELETE' });
    return deliveries;
  }

  /** Replaces the vendors' faults. */
  async setFaults(rules: readonly object[]): Promise<void> {
    const body = JSON.stringify({ rules });
    const answer = await fetch(`${this.vendors.urls.http}/faults`, { method: 'PUT', body });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** Resolves when neither the relay nor the server has a due job left. */
  async idle(): Promise<void> {
    if (this.#server !== undefined) await idle(this.#server.database.jobs);
    if (this.#relay !== undefined) await idle(this.#relay.context.database.jobs);
  }

  async close(): Promise<void> {
    await this.#server?.close();
    await this.stopRelay();
    await this.vendors.close();
    for (const folder of [this.dir, this.ring.folder]) rmSync(folder, { recursive: true, force: true });
  }
}
