import pg from 'pg';
import { type Address, addressOf } from './address.js';
import { connectionSettings } from './connection-settings.js';
import { isStandby } from './is-standby.js';
import { urlPerHost } from './postgres-hosts.js';

const probeTimeoutMilliseconds = 3_000;

type OnConnect = (error: Error | null) => void;

/** Finds the primary among several PostgreSQL hosts. Caches its address until a connection to it fails. */
export class PrimaryFinder {
  readonly #urls: readonly [string, ...string[]];
  /** The driver's client class; with several hosts, a subclass that connects to the primary. */
  readonly Client: typeof pg.Client;
  #found: Promise<Address> | undefined;

  /** @throws DatabaseUnusableError as {@link urlPerHost} does */
  constructor(url: string) {
    this.#urls = urlPerHost(url);
    this.Client = this.#urls.length === 1 ? pg.Client : clientOf(this);
  }

  /** Settings for all connections, with the address of the first host. */
  get settings(): pg.ClientConfig {
    return connectionSettings(this.#urls[0]);
  }

  /**
   * Queries all hosts at once, and resolves to the address of the first host that reports being the primary. If no host
   * does, rejects with an `ENOPRIMARY` error that names each host and its state.
   */
  find(): Promise<Address> {
    this.#found ??= Promise.any(this.#urls.map(probe)).catch((error: AggregateError) => {
      this.forget();
      const states = this.#urls.map((url, index) => describeState(url, error.errors[index]));
      throw Object.assign(new Error(`no host accepts writes: ${states.join('; ')}`), { code: 'ENOPRIMARY' });
    });
    return this.#found;
  }

  forget(): void {
    this.#found = undefined;
  }
}

function clientOf(finder: PrimaryFinder): typeof pg.Client {
  return class extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: OnConnect): void;
    override connect(callback?: OnConnect): Promise<pg.Client> | undefined {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      connected.then(() => callback(null), callback);
      return undefined;
    }

    async #connect(): Promise<pg.Client> {
      const { host, port } = await finder.find();
      Object.assign(this, { host, port });
      try {
        await super.connect();
        // A failover may have made this host a standby since it was found to be the primary.
        if (!(await isStandby(this))) return this;
        this.connection.stream.destroy();
      } catch (error) {
        finder.forget();
        throw error;
      }
      finder.forget();
      throw Object.assign(new Error(`the host ${this.host} has become a standby`), { code: 'ENOPRIMARY' });
    }
  };
}

async function probe(url: string): Promise<Address> {
  const address = addressOf(url);
  if (address === undefined) throw new Error('the URL cannot be read');
  const client = new pg.Client({
    ...connectionSettings(url),
    connectionTimeoutMillis: probeTimeoutMilliseconds,
    query_timeout: probeTimeoutMilliseconds,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    if (await isStandby(client)) throw new Error('a standby');
    return address;
  } finally {
    client.connection.stream.destroy();
  }
}

function describeState(url: string, error: Error): string {
  const { host, port } = addressOf(url) ?? { host: 'a host', port: '?' };
  return `${host}, port ${port}: ${error.message}`;
}
