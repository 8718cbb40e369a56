import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type PushToken,
} from '@waxwing/client';
import { createRelay, type Relay, readRelayEnvironment, runRelayCommand } from '@waxwing/relay';
import { createServer, readServerEnvironment, runServerCommand, type Server } from '@waxwing/server';
import type { PushCheck } from '@waxwing/server-push';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { listen } from '@waxwing/service/http';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { type RingOnDisk, ringOnDisk } from '../../apps/relay/keyring/ring-material.js';
import { freePort } from '../../support/free-ports.js';
import { createMemoryLog } from '../../support/memory-log.js';

export interface WorldUser {
  readonly user_id: number;
  readonly email: string;
  readonly api_key: string;
}

export interface CommandResult {
  readonly code: number;
  readonly printed: string;
  readonly said: string;
}

type Settings = Readonly<Record<string, string | undefined>>;

const phones: readonly PushToken[] = [
  { tokenKind: 'fcm', token: `fcm-${'x9'.repeat(60)}:APA91b-enabled` },
  { tokenKind: 'apns', token: `${'C0FFEE'.repeat(10)}0A1B`, iosAppId: 'org.example.app' },
];

/**
 * A real relay, a real server and vendors' stand-ins in this process, with the commands that operators and admins run.
 */
export class PushWorld {
  readonly dir: string;
  readonly vendors: Vendors;
  readonly ring: RingOnDisk;
  readonly relayPort: number;
  readonly serverPort: number;
  /** Milliseconds by which each clock is ahead of the system clock. */
  readonly ahead: { relay: number; server: number };
  readonly serverDatabase: string;
  readonly log = createMemoryLog('waxwing-server');
  /** Combined output of all push commands. */
  readonly pushOutput: string[] = [];
  #relay: Relay | undefined;
  #server: Server | undefined;

  private constructor(
    parts: Pick<
      PushWorld,
      'dir' | 'vendors' | 'ring' | 'relayPort' | 'serverPort' | 'ahead' | 'serverDatabase'
    >,
  ) {
    this.dir = parts.dir;
    this.vendors = parts.vendors;
    this.ring = parts.ring;
    this.relayPort = parts.relayPort;
    this.serverPort = parts.serverPort;
    this.ahead = parts.ahead;
    this.serverDatabase = parts.serverDatabase;
  }

  /** Creates a relay and a server that are not connected yet. By default, the server uses a SQLite file. */
  static async create(databaseUrl?: string): Promise<PushWorld> {
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-push-'));
    const ahead = { relay: 0, server: 0 };
    const clock = () => Date.now() + ahead.relay;
    const vendors = await startVendors({ dataDir: join(dir, 'vendors'), clock });
    const ring = await ringOnDisk(undefined, clock);
    const relayPort = await freePort(2);
    const serverDatabase = databaseUrl ?? `sqlite:${join(dir, 'server.sqlite')}`;
    const ports = { relayPort, serverPort: relayPort + 1 };
    const world = new PushWorld({ dir, vendors, ring, ...ports, ahead, serverDatabase });
    await world.startRelay();
    await world.startServer();
    return world;
  }

  get relayUrl(): string {
    return `http://127.0.0.1:${this.relayPort}`;
  }

  get serverUrl(): string {
    return `http://127.0.0.1:${this.serverPort}`;
  }

  get relay(): Relay {
    if (this.#relay === undefined) throw new Error('the relay is not running');
    return this.#relay;
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error('the server is not running');
    return this.#server;
  }

  get relayEnvironment(): Record<string, string> {
    return {
      ...this.ring.environment,
      RELAY_PORT: String(this.relayPort),
      RELAY_DATABASE: `sqlite:${join(this.dir, 'relay.sqlite')}`,
      RELAY_APPS_FILE: join(this.dir, 'apps.json'),
      RELAY_FCM_BASE_URL: this.vendors.urls.fcm,
      RELAY_APNS_PRODUCTION_URL: this.vendors.urls.apnsProduction,
      RELAY_APNS_SANDBOX_URL: this.vendors.urls.apnsSandbox,
      RELAY_APNS_CA_FILE: this.vendors.credentials.caFile,
    };
  }

  get serverEnvironment(): Record<string, string> {
    return {
      SERVER_PORT: String(this.serverPort),
      SERVER_DATABASE: this.serverDatabase,
      SERVER_KEY_FILE: join(this.dir, 'waxwing-server.key'),
      SERVER_UPLOADS: `disk:${join(this.dir, 'uploads')}`,
      SERVER_REALM_URL: this.serverUrl,
      SERVER_REALM_NAME: 'Enabled',
      SERVER_LOG_LEVEL: 'trace',
    };
  }

  async startRelay(
    settings: Settings = {},
    overrides: Parameters<typeof createRelay>[1] = {},
  ): Promise<void> {
    this.writeApps(['fcm', 'apns']);
    const configuration = readRelayEnvironment({ ...this.relayEnvironment, ...settings });
    const clock = () => Date.now() + this.ahead.relay;
    this.#relay = await createRelay(configuration, {
      log: createMemoryLog().log,
      clock,
      monotonic: clock,
      ...overrides,
    });
    await listen(this.#relay, configuration);
  }

  async startServer(settings: Settings = {}): Promise<void> {
    const configuration = readServerEnvironment({ ...this.serverEnvironment, ...settings });
    const clock = () => Date.now() + this.ahead.server;
    this.#server = await createServer(configuration, { log: this.log.log, clock });
    await listen(this.#server, configuration);
  }

  async stopRelay(): Promise<void> {
    await this.#relay?.close();
    this.#relay = undefined;
  }

  async stopServer(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }

  /** Writes the relay's apps file, with credentials for only these vendors. */
  writeApps(vendors: readonly ('fcm' | 'apns')[]): void {
    const { serviceAccountFile, apnsTeamId, apnsKeyId, apnsKeyFile } = this.vendors.credentials;
    const apns = { team_id: apnsTeamId, key_id: apnsKeyId, key_file: apnsKeyFile, topics: '*' };
    const apps = {
      ...(vendors.includes('fcm') && { fcm: [{ service_account_file: serviceAccountFile }] }),
      ...(vendors.includes('apns') && { apns: [apns] }),
    };
    writeFileSync(join(this.dir, 'apps.json'), JSON.stringify(apps), { mode: 0o600 });
  }

  /** Replaces the vendors' faults. */
  async faults(rules: readonly object[]): Promise<void> {
    const response = await fetch(`${this.vendors.urls.http}/faults`, {
      method: 'PUT',
      body: JSON.stringify({ rules }),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  /** Runs a command as the server's admin. */
  run(args: readonly string[], settings: Settings = {}): Promise<CommandResult> {
    const environment = { ...this.serverEnvironment, ...settings };
    return this.#run(runServerCommand, args, environment, () => Date.now() + this.ahead.server);
  }

  /** Runs a command as the relay's operator. */
  operate(args: readonly string[]): Promise<CommandResult> {
    return this.#run(runRelayCommand, args, this.relayEnvironment, () => Date.now() + this.ahead.relay);
  }

  async runJson<Answer>(args: readonly string[], settings: Settings = {}): Promise<Answer> {
    const { code, printed, said } = await this.run([...args, '--json'], settings);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${said}`);
    return JSON.parse(printed) as Answer;
  }

  async operateJson<Answer>(args: readonly string[]): Promise<Answer> {
    const { code, printed, said } = await this.operate([...args, '--json']);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${said}`);
    return JSON.parse(printed) as Answer;
  }

  /** Runs `push status --json`. Returns the exit code, the error output and the checks. */
  async status(settings: Settings = {}): Promise<{ code: number; said: string; checks: PushCheck[] }> {
    const { code, printed, said } = await this.run(['push', 'status', '--json'], settings);
    return { code, said, checks: JSON.parse(printed) as PushCheck[] };
  }

  addUser(name: string): Promise<WorldUser> {
    const role = ['--role', 'owner'];
    return this.runJson(['users', 'add', '--email', `${name}@system.example`, '--name', name, ...role]);
  }

  /** Registers an Android phone and an iPhone of a user. Returns their registration states. */
  async registerPhones(user: WorldUser, bouncerPublicKey?: string): Promise<string[]> {
    const key = bouncerPublicKey ?? (await this.bouncerPublicKey());
    const states: string[] = [];
    for (const token of phones) {
      const client = await createPushClient({
        bouncerPublicKey: key,
        pushToken: () => token,
        accounts: createMemoryPushAccountStore(),
        seen: createMemorySeenNotifications(),
      });
      const { user_id: userId, email, api_key: apiKey } = user;
      const registrar = client.registrar({ realmUrl: this.serverUrl, userId, email, apiKey });
      states.push((await registrar.sync()).code);
    }
    return states;
  }

  async bouncerPublicKey(): Promise<string> {
    return (await this.operateJson<{ bouncer_public_key: string }>(['keys', 'export-public']))
      .bouncer_public_key;
  }

  /** Creates an invitation and returns its code. */
  async invite(): Promise<string> {
    return (await this.operateJson<{ invitation: string }>(['servers', 'invite'])).invitation;
  }

  async close(): Promise<void> {
    await this.stopServer();
    await this.stopRelay();
    await this.vendors.close();
    rmSync(this.dir, { recursive: true, force: true });
    rmSync(this.ring.folder, { recursive: true, force: true });
  }

  async #run(
    program: typeof runServerCommand,
    args: readonly string[],
    environment: Settings,
    clock: () => number,
  ): Promise<CommandResult> {
    const [printed, said]: [string[], string[]] = [[], []];
    const terminal: Terminal = {
      environment,
      clock,
      print: (text) => void printed.push(text),
      say: (text) => void said.push(text),
      ask: async () => undefined,
      readSecret: async () => new Secret(''),
    };
    const code = await program(args, terminal);
    if (args[0] === 'push') this.pushOutput.push(...printed, ...said);
    return { code, printed: printed.join('\n'), said: said.join('\n') };
  }
}
