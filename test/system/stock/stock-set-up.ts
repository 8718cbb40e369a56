import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { HostNetwork } from '#relay/servers/joining/ask-host.js';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';
import { askRelay } from './relay-requests.js';
import type { StockServer } from './stock-server.js';

/** The `zulip_org_id` and `zulip_org_key` in a stock server's secrets file. */
export interface StockSecrets {
  serverId: string;
  serverKey: string;
}

const keyCharacters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const secretLifetimeMilliseconds = 10_000;

export function newSecrets(): StockSecrets {
  return { serverId: randomUUID(), serverKey: newKey() };
}

function newKey(): string {
  return Array.from(randomBytes(64), (byte) => keyCharacters[byte % keyCharacters.length]).join('');
}

interface SetUpOptions {
  readonly relayUrl: string;
  readonly hostname: string;
  /** The server's secrets, which the command changes. */
  readonly secrets: StockSecrets;
  readonly server: StockServer;
  readonly clock: () => number;
}

/**
 * Acts as a stock server's `manage.py register_server`. Sends the same requests in the same order, and stores its
 * secrets at the same points.
 */
export class StockSetUp {
  readonly #options: SetUpOptions;
  /** The prepared transfer. At most one at a time; valid for ten seconds. */
  #prepared: { readonly secret: string; readonly token: string; readonly until: number } | undefined;

  constructor(options: SetUpOptions) {
    this.#options = options;
  }

  /**
   * Runs the command without flags or with `--rotate-key`. Returns `created` from the relay's response. @throws
   * RelayFailure
   */
  async register({ rotateKey = false } = {}): Promise<boolean> {
    const { hostname, secrets, server } = this.#options;
    const next = rotateKey ? newKey() : undefined;
    const answer = await this.#ask('server/register', {
      zulip_org_id: secrets.serverId,
      zulip_org_key: secrets.serverKey,
      hostname,
      contact_email: 'admin@example.org',
      ...(next !== undefined && { new_org_key: next }),
    });
    // Reports with the old key. The command stores the new key only if it succeeds as a whole.
    await server.report.report();
    if (typeof answer.created !== 'boolean')
      throw new Error('the response does not say whether the server is new');
    if (next !== undefined) secrets.serverKey = next;
    return answer.created;
  }

  /** Runs the command with `--registration-transfer`. @throws RelayFailure */
  async transfer(): Promise<void> {
    const { clock, hostname, secrets } = this.#options;
    const { verification_secret } = await this.#ask('server/register/transfer', { hostname });
    const token = randomBytes(32).toString('base64url');
    const until = clock() + secretLifetimeMilliseconds;
    this.#prepared = { secret: String(verification_secret), token, until };
    const answer = await this.#ask('server/register/verify_challenge', { hostname, access_token: token });
    secrets.serverId = String(answer.zulip_org_id);
    secrets.serverKey = String(answer.zulip_org_key);
    await this.register();
  }

  /** Runs the command with `--deactivate`. @throws RelayFailure */
  async deactivate(): Promise<void> {
    const { relayUrl, secrets } = this.#options;
    await askRelay({ relayUrl, credentials: secrets }, 'POST', 'server/deactivate', { json: {} });
  }

  /** Responds to the relay's request to the server's host. */
  answer(path: string, response: ServerResponse): void {
    const { clock } = this.#options;
    const prepared = this.#prepared;
    const isAsked = path === `/api/v1/zulip-services/verify/${prepared?.token}/`;
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (prepared === undefined || !isAsked || clock() >= prepared.until) {
      const code = 'REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED';
      send(400, { result: 'error', msg: 'Verification secret not prepared', code });
      return;
    }
    send(200, { result: 'success', msg: '', verification_secret: prepared.secret });
  }

  #ask(endpoint: string, form: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
    const { relayUrl } = this.#options;
    return askRelay({ relayUrl, credentials: undefined }, 'POST', endpoint, { form });
  }
}

/** A stock server's host. Only `network` resolves the host's name. */
export class StockHost {
  readonly hostname: string;
  readonly network: HostNetwork;
  /** The server on this host. `undefined` for a host without a server. */
  setUp: StockSetUp | undefined;
  readonly #server: Server;

  private constructor(server: Server, name: string, authority: string) {
    this.#server = server;
    this.hostname = `${name}:${(server.address() as AddressInfo).port}`;
    this.network = {
      authority,
      deadlineMilliseconds: 5000,
      lookUp: async (asked) => [{ address: asked === name ? '127.0.0.1' : '192.0.2.1', family: 4 }],
    };
    server.on('request', ({ url = '' }, response) => {
      if (this.setUp === undefined) response.writeHead(404).end();
      else this.setUp.answer(url, response);
    });
  }

  static async start(name: string): Promise<StockHost> {
    const { ca, certificate, privateKey } = await makeTlsIdentity([name]);
    const server = createServer({ cert: certificate, key: privateKey });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new StockHost(server, name, ca);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
