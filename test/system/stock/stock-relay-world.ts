import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMemoryKeyListStore,
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type PushClient,
  type Registrar,
} from '@waxwing/client';
import {
  addUser,
  createServer,
  readServerEnvironment,
  roles,
  runServerCommand,
  type Server,
} from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { listen } from '@waxwing/service/http';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { freePort } from '../../support/free-ports.js';
import { idle } from '../../support/idle.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { askByHttp } from './ask-servers.js';
import { StockRelay } from './stock-relay.js';
import type { WorldUser } from './stock-world.js';

/** Our server with a stock relay. Both run on loopback and share a clock. */
export class StockRelayWorld {
  readonly relay: StockRelay;
  readonly serverUrl: string;
  readonly time: { ahead: number };
  readonly clock: () => number;
  readonly log = createMemoryLog();
  readonly #dir: string;
  readonly #environment: Readonly<Record<string, string>>;
  #server: Server | undefined;

  private constructor(
    parts: Pick<StockRelayWorld, 'relay' | 'time' | 'clock'>,
    dir: string,
    { port, isKnown, databaseUrl }: { port: number; isKnown: boolean; databaseUrl: string | undefined },
  ) {
    this.relay = parts.relay;
    this.time = parts.time;
    this.clock = parts.clock;
    this.serverUrl = `http://127.0.0.1:${port}`;
    this.#dir = dir;
    const keyFile = join(dir, 'server-key');
    if (isKnown) writeFileSync(keyFile, this.relay.serverKey, { mode: 0o600 });
    this.#environment = {
      SERVER_PORT: String(port),
      SERVER_DATABASE: databaseUrl ?? `sqlite:${join(dir, 'server.sqlite')}`,
      SERVER_KEY_FILE: join(dir, 'waxwing-server.key'),
      SERVER_UPLOADS: `disk:${join(dir, 'uploads')}`,
      SERVER_REALM_URL: this.serverUrl,
      SERVER_REALM_NAME: 'Ours',
      SERVER_REGISTRATIONS_PER_HOUR: '100000',
      ...(isKnown && {
        SERVER_RELAY_URL: this.relay.url,
        SERVER_RELAY_SERVER_ID: this.relay.serverId,
        SERVER_RELAY_SERVER_KEY_FILE: keyFile,
      }),
    };
  }

  /**
   * `isKnown`: whether the relay already knows the server and its realm, and the server's settings name the relay. By
   * default, the server uses a SQLite file.
   */
  static async create({
    isKnown = true,
    databaseUrl = undefined as string | undefined,
  } = {}): Promise<StockRelayWorld> {
    const time = { ahead: 0 };
    const clock = (): number => Date.now() + time.ahead;
    const relay = await StockRelay.start(clock);
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-stock-relay-'));
    const options = { port: await freePort(), isKnown, databaseUrl };
    const world = new StockRelayWorld({ relay, time, clock }, dir, options);
    await world.startServer();
    if (isKnown) relay.addRealm(world.server.realmUuid);
    return world;
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error('the server is not running');
    return this.#server;
  }

  /** Starts the server on its existing data. Stops a running one first. */
  async startServer(): Promise<void> {
    await this.#server?.close();
    const configuration = readServerEnvironment(this.#environment);
    this.#server = await createServer(configuration, { log: this.log.log, clock: this.clock });
    await listen(this.#server, configuration);
  }

  async addUser(name: string, role: 'member' | 'owner' = 'member'): Promise<WorldUser> {
    const { database } = this.server;
    const [email, password] = [`${name}@example.com`, `password of ${name}`];
    const { user, apiKey } = await addUser(
      database,
      { clock: this.clock, realm: { url: this.serverUrl } },
      { email, fullName: name, role: roles[role], isBot: false, ownerEmail: undefined },
    );
    await setPassword(database, this.clock, email, async () => new Secret(password));
    return { userId: user.id, email, password, apiKey: apiKey.reveal() };
  }

  /** Our client on a phone with an FCM token. The client is configured to follow a key list. */
  async ourPhone(user: WorldUser, token: string): Promise<{ client: PushClient; registrar: Registrar }> {
    const client = await createPushClient({
      bouncerPublicKey: this.relay.bouncerPublicKey,
      pushToken: () => ({ tokenKind: 'fcm', token }),
      accounts: createMemoryPushAccountStore(),
      seen: createMemorySeenNotifications(),
      keyList: {
        signingPublicKey: Buffer.alloc(32, 7).toString('base64'),
        store: createMemoryKeyListStore(),
      },
      clock: this.clock,
    });
    const { userId, email, apiKey } = user;
    return { client, registrar: client.registrar({ realmUrl: this.serverUrl, userId, email, apiKey }) };
  }

  /** Sends a direct message. Returns the message id. */
  async sendMessage(from: WorldUser, to: WorldUser): Promise<number> {
    const authorization = `Basic ${btoa(`${from.email}:${from.apiKey}`)}`;
    const fields = { type: 'direct', to: JSON.stringify([to.userId]), content: 'hello' };
    const { body } = await askByHttp(this.serverUrl)('POST', 'messages', fields, authorization);
    return Number(body.id);
  }

  /** Runs a command of the server while the server runs. */
  async command(...command: string[]): Promise<{ code: number; text: string }> {
    const said: string[] = [];
    const code = await runServerCommand(command, {
      environment: this.#environment,
      clock: this.clock,
      print: (text) => void said.push(text),
      say: (text) => void said.push(text),
      ask: async () => undefined,
      readSecret: async () => new Secret(''),
    });
    return { code, text: said.join('\n') };
  }

  /** Resolves when no due job of the server is left. */
  idle(): Promise<void> {
    return idle(this.server.database.jobs);
  }

  async pass(milliseconds: number): Promise<void> {
    this.time.ahead += milliseconds;
    await this.idle();
  }

  async close(): Promise<void> {
    await this.#server?.close();
    await this.relay.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
