import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeBase64, type UserId } from '@waxwing/protocol';
import {
  addUser,
  createServer,
  type Role,
  roles,
  type Server,
  type ServerConfiguration,
} from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { defaultHttpLimits, type HttpLimits } from '@waxwing/service/http-settings';
import { loadWasmSodium } from '@waxwing/sodium';
import { idle } from '../../support/idle.js';
import { createMemoryLog } from '../../support/memory-log.js';
import { withoutOverload } from '../../support/no-overload.js';
import { RelayStandIn } from '../../support/relay-stand-in.js';

export const relayServerId = '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe';
export const relayServerKey = 'a-server-key-that-must-not-be-seen-anywhere';
const realm = { url: 'https://chat.example.com', name: 'Example' };
const sodium = await loadWasmSodium();

/** A user with credentials. */
export interface Account {
  readonly userId: UserId;
  readonly email: string;
  readonly apiKey: string;
  readonly authorization: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, unknown>;
}

type Fields = Readonly<Record<string, string>>;
type Method = 'GET' | 'POST' | 'DELETE' | 'PATCH';

export interface TestServerOptions {
  /** Default: 90. */
  readonly longPollTimeoutSeconds?: number;
  /** Whether to configure no relay. */
  readonly withoutRelay?: boolean;
  /** The folder of the database. Default: a new folder. */
  readonly folder?: string;
  /** Default: a SQLite file in the folder. */
  readonly databaseUrl?: string;
  readonly random?: () => number;
  /** Default: 60. */
  readonly registrationsPerHour?: number;
  readonly http?: Partial<HttpLimits>;
  /** Default: a folder next to the database. */
  readonly uploads?: Partial<ServerConfiguration['uploads']>;
  readonly offersWebPublicChannels?: boolean;
  /** Default: off. */
  readonly dashboard?: ServerConfiguration['dashboard'];
  /** Folder of the dashboard's page. Default: the built page. */
  readonly pageFolder?: string;
  /** Default: ten days. */
  readonly invitationValidityMinutes?: number;
}

/** Relay timeout. Longer than stalls on a slow machine, so that only tests of the timeout reach it. */
const relayTimeoutMilliseconds = 30_000;
const shortRelayTimeoutMilliseconds = 100;

/** A server assembled as in production, with a scripted relay and a fixed clock. */
export class ServerUnderTest {
  now = Date.UTC(2026, 2, 11, 12);
  readonly relay: RelayStandIn;
  readonly folder: string;
  readonly logged = createMemoryLog('waxwing-server');
  readonly #options: TestServerOptions;
  #server: Server | undefined;

  private constructor(relay: RelayStandIn, folder: string, options: TestServerOptions) {
    this.relay = relay;
    this.folder = folder;
    this.#options = options;
  }

  static async start(options: TestServerOptions = {}): Promise<ServerUnderTest> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'waxwing-server-'));
    const test = new ServerUnderTest(await RelayStandIn.start(), folder, options);
    await test.boot();
    return test;
  }

  /** Starts or restarts the server on the same database. `isImpatient` sets a short relay timeout. */
  async boot({ isImpatient = false } = {}): Promise<void> {
    const keyFile = join(this.folder, 'server-key');
    writeFileSync(keyFile, `${relayServerKey}\n`, { mode: 0o600 });
    const { withoutRelay = false, random = () => 0, longPollTimeoutSeconds } = this.#options;
    const { registrationsPerHour = 60 } = this.#options;
    const configuration: ServerConfiguration = {
      host: '127.0.0.1',
      port: 0,
      drainMilliseconds: 0,
      metrics: { kind: 'not-configured' },
      databaseUrl: new Secret(this.databaseUrl),
      logLevel: 'trace',
      tracing: { url: undefined, percent: 100, setting: 'SERVER_TRACES_URL' },
      http: { ...withoutOverload(defaultHttpLimits), ...this.#options.http },
      realm,
      registrationsPerHour,
      dashboard: this.#options.dashboard ?? { kind: 'off' },
      uploads: {
        store: { kind: 'disk', folder: join(this.folder, 'uploads') },
        quotaBytes: undefined,
        ...this.#options.uploads,
      },
      invitationValidityMinutes: this.#options.invitationValidityMinutes ?? 14_400,
      offersWebPublicChannels: this.#options.offersWebPublicChannels ?? false,
      pushAccount: { keyFile: join(this.folder, 'waxwing-server.key'), allowsPlainHttp: false },
      relayNetwork: { caFile: undefined, proxyUrl: undefined },
      relay: withoutRelay
        ? { kind: 'not-configured' }
        : { kind: 'configured', url: this.relay.url, serverId: relayServerId, serverKeyFile: keyFile },
    };
    this.#server = await createServer(configuration, {
      log: this.logged.log,
      clock: () => this.now,
      random,
      ...(this.#options.pageFolder === undefined ? {} : { pageFolder: this.#options.pageFolder }),
      timings: {
        relayTimeoutMilliseconds: isImpatient ? shortRelayTimeoutMilliseconds : relayTimeoutMilliseconds,
        ...(longPollTimeoutSeconds === undefined ? {} : { longPollTimeoutSeconds }),
      },
    });
  }

  get databaseUrl(): string {
    return this.#options.databaseUrl ?? `sqlite:${join(this.folder, 'server.sqlite')}`;
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error('the server is not running');
    return this.#server;
  }

  /** Stops the server but not the relay. */
  async stop(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.relay.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async addAccount(
    email: string,
    options: { role?: Role; isBot?: boolean; fullName?: string } = {},
  ): Promise<Account> {
    const { user, apiKey } = await addUser(
      this.server.database,
      { clock: () => this.now, realm },
      {
        email,
        fullName: options.fullName ?? 'Somebody',
        role: options.role ?? roles.member,
        isBot: options.isBot ?? false,
        ownerEmail: undefined,
      },
    );
    const pair = `${email}:${apiKey.reveal()}`;
    const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    return { userId: user.id, email, apiKey: apiKey.reveal(), authorization };
  }

  /** Sends parameters as a form, or in the query string of a GET. */
  async ask(
    account: Account | undefined,
    method: Method,
    path: string,
    fields: Fields = {},
  ): Promise<Answer> {
    const parameters = new URLSearchParams(fields).toString();
    const headers = account === undefined ? {} : { authorization: account.authorization };
    if (method === 'GET') return this.send({ method, url: `/api/v1/${path}?${parameters}`, headers });
    return this.send({
      method,
      url: `/api/v1/${path}`,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      payload: parameters,
    });
  }

  /** Sends a raw request. */
  async send(request: {
    method: Method;
    url: string;
    headers?: Record<string, string>;
    payload?: string | Buffer;
  }): Promise<Answer> {
    const response = await this.server.app.inject(request);
    return { status: response.statusCode, headers: response.headers, body: response.json() };
  }

  async register(account: Account, fields: Fields): Promise<Answer> {
    return this.ask(account, 'POST', 'mobile_push/register', fields);
  }

  async pushDevices(account: Account): Promise<unknown> {
    const { body } = await this.ask(account, 'POST', 'register', {
      event_types: '[]',
      fetch_event_types: '["push_device"]',
    });
    return body.push_devices;
  }

  /** Opens a queue for the user's events. The returned function reads the events so far. */
  async openQueue(account: Account, fields: Fields = {}): Promise<() => Promise<Record<string, unknown>[]>> {
    const { body } = await this.ask(account, 'POST', 'register', fields);
    const queueId = String(body.queue_id);
    return async () => {
      const query = { queue_id: queueId, last_event_id: '-1', dont_block: 'true' };
      const answer = await this.ask(account, 'GET', 'events', query);
      return answer.body.events as Record<string, unknown>[];
    };
  }

  /** Waits until all due jobs are done. */
  async settle(): Promise<void> {
    await idle(this.server.database.jobs);
  }

  /**
   * All bytes of the database files. A separate process reads them, because reading them here would drop SQLite's
   * locks.
   */
  databaseBytes(): Buffer {
    const path = join(this.folder, 'server.sqlite');
    return execFileSync('cat', [path, `${path}-wal`], { maxBuffer: 1024 ** 3 });
  }
}

export interface TestPhone {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly token: string;
  /** Parameters of `POST /mobile_push/register`. */
  readonly fields: Record<string, string>;
}

const bouncerKeyPair = sodium.generateKeyPair();

/** A phone and the parameters of its registration. */
export function testPhone(pushAccountId: string, overrides: Fields = {}): TestPhone {
  const { privateKey, publicKey } = sodium.generateKeyPair();
  const token = `token-of-${pushAccountId}-${encodeBase64(sodium.randomBytes(9))}`;
  const plaintext = JSON.stringify({ token_kind: 'fcm', token, timestamp: 1_773_230_400 });
  const sealed = sodium.seal(new TextEncoder().encode(plaintext), bouncerKeyPair.publicKey);
  const fields = {
    token_kind: 'fcm',
    push_account_id: pushAccountId,
    push_public_key: encodeBase64(publicKey),
    bouncer_public_key: encodeBase64(bouncerKeyPair.publicKey),
    encrypted_push_registration: encodeBase64(sealed),
    ...overrides,
  };
  return { privateKey, publicKey, token, fields };
}
