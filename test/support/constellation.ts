import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type PushClient,
  type PushToken,
  type Registrar,
} from '@waxwing/client';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { announcing } from './announcing.js';
import { freePort } from './free-ports.js';
import { runJsonCommand, SpawnedProcess } from './spawned-process.js';

export interface ConstellationUser {
  readonly user_id: number;
  readonly email: string;
  readonly api_key: string;
}

export interface ConstellationPhone {
  readonly client: PushClient;
  readonly registrar: Registrar;
}

export interface Delivery {
  readonly vendor: 'fcm' | 'apns';
  readonly headers: Record<string, string>;
  readonly body: unknown;
  /** The body's exact text. In `body`, large integers are rounded to doubles. */
  readonly text: string;
}

/**
 * Relay and server as real processes with their own databases, and stand-ins for the vendors in the test's process.
 * Relay and server can be stopped and restarted separately, each on the same data and port.
 */
export class Constellation {
  readonly dir: string;
  readonly vendors: Vendors;
  readonly relayEnv: Record<string, string>;
  readonly serverEnv: Record<string, string>;
  readonly realmUuid: string;
  readonly bouncerPublicKey: string;
  readonly #processes = new Set<SpawnedProcess>();

  private constructor(
    parts: Pick<
      Constellation,
      'dir' | 'vendors' | 'relayEnv' | 'serverEnv' | 'realmUuid' | 'bouncerPublicKey'
    >,
  ) {
    this.dir = parts.dir;
    this.vendors = parts.vendors;
    this.relayEnv = parts.relayEnv;
    this.serverEnv = parts.serverEnv;
    this.realmUuid = parts.realmUuid;
    this.bouncerPublicKey = parts.bouncerPublicKey;
  }

  /** Provisions everything with operators' and admins' CLI commands, without starting the relay or the server. */
  static async create(
    extra: { relay?: Record<string, string>; server?: Record<string, string> } = {},
  ): Promise<Constellation> {
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-system-'));
    const vendors = await startVendors({ dataDir: join(dir, 'vendors') });
    const relayPort = await freePort(2);
    const relayEnv = { ...relayEnvironment(dir, relayPort, vendors), ...extra.relay };
    const own = { ...serverEnvironment(dir, relayPort + 1), ...extra.server };
    const relayCommand = <Answer>(args: readonly string[]) =>
      runJsonCommand<Answer>('waxwing-relay', args, { env: relayEnv });
    // Each command is a separate process, so independent commands run concurrently to save time.
    const [, { bouncer_public_key: bouncerPublicKey }] = await Promise.all([
      runJsonCommand('waxwing-server', ['db', 'migrate'], { env: own }),
      relayCommand<{ bouncer_public_key: string }>(['keys', 'init']),
    ]);
    const showRealm = ['realm', 'show'];
    const { realm_uuid } = await runJsonCommand<{ realm_uuid: string }>('waxwing-server', showRealm, {
      env: own,
    });
    const addServer = ['servers', 'add', '--realm', realm_uuid];
    const credentials = await relayCommand<{ server_id: string; server_key: string }>(addServer);
    writeFileSync(join(dir, 'server.key'), credentials.server_key, { mode: 0o600 });
    const serverEnv = {
      ...own,
      SERVER_RELAY_URL: `http://127.0.0.1:${relayPort}`,
      SERVER_RELAY_SERVER_ID: credentials.server_id,
      SERVER_RELAY_SERVER_KEY_FILE: join(dir, 'server.key'),
    };
    return new Constellation({ dir, vendors, relayEnv, serverEnv, realmUuid: realm_uuid, bouncerPublicKey });
  }

  get relayUrl(): string {
    return `http://127.0.0.1:${this.relayEnv.RELAY_PORT}`;
  }

  get serverUrl(): string {
    return `http://127.0.0.1:${this.serverEnv.SERVER_PORT}`;
  }

  async startRelay(env: Record<string, string> = {}): Promise<SpawnedProcess> {
    const relay = this.spawnRelay(env);
    return relay.readyAt(`http://127.0.0.1:${env.RELAY_PORT ?? this.relayEnv.RELAY_PORT}/health/ready`);
  }

  async startServer(env: Record<string, string> = {}): Promise<SpawnedProcess> {
    const server = this.spawnServer(env);
    return server.readyAt(`http://127.0.0.1:${env.SERVER_PORT ?? this.serverEnv.SERVER_PORT}/health/ready`);
  }

  /** The combined output so far of all relays and servers. */
  get output(): string {
    return [...this.#processes].map(({ output }) => output).join('');
  }

  /** Spawns a relay without waiting until it is ready. */
  spawnRelay(env: Record<string, string> = {}): SpawnedProcess {
    return this.#spawn('waxwing-relay', { ...this.relayEnv, ...env });
  }

  /** Spawns a server without waiting until it is ready. */
  spawnServer(env: Record<string, string> = {}): SpawnedProcess {
    return this.#spawn('waxwing-server', { ...this.serverEnv, ...env });
  }

  #spawn(command: 'waxwing-relay' | 'waxwing-server', env: Record<string, string>): SpawnedProcess {
    const spawned = new SpawnedProcess(command, ['serve'], { env });
    this.#processes.add(spawned);
    return spawned;
  }

  /**
   * Adds another server to the relay, which must not be running. The test acts as this server, so no process is
   * started.
   */
  async addRelayServer(): Promise<{ readonly realmUuid: string; readonly authorization: string }> {
    const realmUuid = randomUUID();
    const args = ['servers', 'add', '--realm', realmUuid];
    const { server_id, server_key } = await runJsonCommand<{ server_id: string; server_key: string }>(
      'waxwing-relay',
      args,
      { env: this.relayEnv },
    );
    return { realmUuid, authorization: `Basic ${btoa(`${server_id}:${server_key}`)}` };
  }

  async addUser(name: string, flags: readonly string[] = []): Promise<ConstellationUser> {
    const args = ['users', 'add', '--email', `${name}@system.example`, '--name', name, ...flags];
    return runJsonCommand('waxwing-server', args, { env: this.serverEnv });
  }

  /** A user's phone. Uses the protocol generation that the server announces, or that of `featureLevel` if given. */
  async phone(
    user: ConstellationUser,
    token: PushToken,
    featureLevel?: number | undefined,
  ): Promise<ConstellationPhone> {
    const client = await createPushClient({
      bouncerPublicKey: this.bouncerPublicKey,
      fetch: announcing(() => featureLevel),
      pushToken: () => token,
      accounts: createMemoryPushAccountStore(),
      seen: createMemorySeenNotifications(),
    });
    const { user_id: userId, email, api_key: apiKey } = user;
    return { client, registrar: client.registrar({ realmUrl: this.serverUrl, userId, email, apiKey }) };
  }

  /** Sends a request to the server as `user`, with URL-encoded parameters. */
  async request(
    user: ConstellationUser,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    parameters: Record<string, string> = {},
  ) {
    const form = new URLSearchParams(parameters).toString();
    const response = await fetch(`${this.serverUrl}/api/v1/${path}${method === 'GET' ? `?${form}` : ''}`, {
      method,
      headers: {
        authorization: `Basic ${btoa(`${user.email}:${user.api_key}`)}`,
        ...(method === 'GET' ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(method === 'GET' ? {} : { body: form }),
    });
    return { status: response.status, text: await response.text() };
  }

  /** Waits for the first delivery to a token, and returns all of its deliveries. */
  async deliveriesTo(token: string): Promise<Delivery[]> {
    for (;;) {
      const response = await fetch(`${this.vendors.urls.http}/deliveries?token=${encodeURIComponent(token)}`);
      const text = await response.text();
      const { deliveries } = JSON.parse(text) as { deliveries: Omit<Delivery, 'text'>[] };
      if (deliveries.length > 0) return deliveries.map((delivery) => ({ ...delivery, text }));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Kills all relays and servers. New processes can be started on the same data. */
  async endProcesses(): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.end('SIGKILL')));
  }

  async close(): Promise<void> {
    await this.endProcesses();
    await this.vendors.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Settings of a relay that delivers to the vendors' stand-ins and has all its files in `dir`. Writes its apps file. */
export function relayEnvironment(
  dir: string,
  port: number,
  { credentials, urls }: Vendors,
): Record<string, string> {
  const apps = {
    fcm: [{ service_account_file: credentials.serviceAccountFile }],
    apns: [
      {
        team_id: credentials.apnsTeamId,
        key_id: credentials.apnsKeyId,
        key_file: credentials.apnsKeyFile,
        topics: '*',
      },
    ],
    webpush: [{ name: 'web', contact: 'mailto:operator@relay.example', hosts: '*' }],
  };
  writeFileSync(join(dir, 'apps.json'), JSON.stringify(apps), { mode: 0o600 });
  return {
    RELAY_PORT: String(port),
    RELAY_DATABASE: `sqlite:${join(dir, 'relay.sqlite')}`,
    RELAY_KEY_RING: join(dir, 'key-ring.age'),
    RELAY_KEY_RING_IDENTITY_FILE: join(dir, 'key-ring-identity.txt'),
    RELAY_APPS_FILE: join(dir, 'apps.json'),
    RELAY_FCM_BASE_URL: urls.fcm,
    RELAY_APNS_PRODUCTION_URL: urls.apnsProduction,
    RELAY_APNS_SANDBOX_URL: urls.apnsSandbox,
    RELAY_APNS_CA_FILE: credentials.caFile,
    RELAY_CA_FILE: credentials.caFile,
    RELAY_WEB_PUSH_PRIVATE_HOSTS: new URL(urls.webPush).host,
  };
}

/** Settings of a server that has all its files in `dir`. */
export function serverEnvironment(dir: string, port: number): Record<string, string> {
  return {
    SERVER_PORT: String(port),
    SERVER_DATABASE: `sqlite:${join(dir, 'server.sqlite')}`,
    SERVER_UPLOADS: `disk:${join(dir, 'uploads')}`,
    SERVER_REALM_URL: `http://127.0.0.1:${port}`,
    SERVER_REALM_NAME: 'System',
  };
}
