import { backOffMilliseconds } from '@waxwing/service/lifecycle';
import type pg from 'pg';
import { SignalListeners } from '../signals/signal-listeners.js';
import { assertSignalFits, type SignalListener, type Signals } from '../signals/signals.js';
import type { AnyTransaction } from '../transaction.js';
import { translatePostgresError } from './postgres-errors.js';
import type { PrimaryFinder } from './primary-finder.js';

// All channels share one PostgreSQL channel, so that a process listens only once and channel names need not be valid
// identifiers.
const postgresChannel = 'waxwing_signals';
const reconnect = { firstMilliseconds: 100, capMilliseconds: 5_000 };
const heartbeatMilliseconds = 10_000;
const answerTimeoutMilliseconds = 5_000;
const sendAgainMilliseconds = 1_000;
const maximumPerStatement = 1000;

/**
 * {@link Signals} through LISTEN and NOTIFY, on a dedicated connection. The connection opens with the first listener
 * and reconnects with backoff. Signals are sent right after the commit, not in it: PostgreSQL serializes commits that
 * notify, including their disk flush, which would undo the benefit of group commits.
 */
export class PostgresSignals implements Signals {
  readonly #primary: PrimaryFinder;
  readonly #pool: pg.Pool;
  readonly #onError: (error: unknown) => void;
  readonly #listeners: SignalListeners;
  #client: pg.Client | undefined;
  #connecting: Promise<void> | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #failures = 0;
  readonly #outbox = new Set<string>();
  #sending: Promise<void> | undefined;
  #sendTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(primary: PrimaryFinder, pool: pg.Pool, onError: (error: unknown) => void) {
    this.#primary = primary;
    this.#pool = pool;
    this.#onError = onError;
    this.#listeners = new SignalListeners(onError);
  }

  async notify(transaction: AnyTransaction, channel: string, payload: string): Promise<void> {
    assertSignalFits(channel, payload);
    transaction.afterCommit(() => {
      this.#outbox.add(`${channel}\n${payload}`);
      this.#send();
    });
  }

  /** Adds a listener. @throws DatabaseUnavailableError if the first connection fails. */
  async listen(channel: string, listener: SignalListener): Promise<() => void> {
    const stop = this.#listeners.add(channel, listener);
    try {
      await this.#connected();
    } catch (error) {
      stop();
      throw translatePostgresError(error);
    }
    return stop;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#reconnectTimer);
    clearTimeout(this.#heartbeatTimer);
    clearTimeout(this.#sendTimer);
    await this.#sending;
    await this.#connecting?.catch(() => undefined);
    const client = this.#client;
    this.#client = undefined;
    client?.removeAllListeners('end');
    await client?.end();
  }

  async #connected(): Promise<void> {
    if (this.#client !== undefined) return;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    await this.#connecting;
  }

  async #connect(): Promise<void> {
    const client = new this.#primary.Client({
      ...this.#primary.settings,
      query_timeout: answerTimeoutMilliseconds,
    });
    // An error is always followed by `end`, which handles it.
    client.on('error', () => undefined);
    client.on('notification', ({ payload }) => this.#received(payload ?? ''));
    try {
      await client.connect();
      await client.query(`listen ${postgresChannel}`);
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    if (this.#closed) return void (await client.end());
    client.on('end', () => this.#lost(client));
    this.#client = client;
    this.#failures = 0;
    this.#scheduleHeartbeat(client);
  }

  #received(message: string): void {
    const end = message.indexOf('\n');
    this.#listeners.notify(message.slice(0, end), message.slice(end + 1));
  }

  #send(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#outbox.size > 0 && !this.#closed) this.#sendLater();
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#outbox.size > 0) {
      const messages = [...this.#outbox].slice(0, maximumPerStatement);
      for (const message of messages) this.#outbox.delete(message);
      try {
        await this.#pool.query(
          `select set_config('synchronous_commit', 'off', true), pg_notify('${postgresChannel}', message) from unnest($1::text[]) as message`,
          [messages],
        );
      } catch (error) {
        this.#onError(translatePostgresError(error));
        for (const message of messages) this.#outbox.add(message);
        return;
      }
    }
  }

  #sendLater(): void {
    this.#sendTimer = setTimeout(() => this.#send(), sendAgainMilliseconds);
    this.#sendTimer.unref();
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client || this.#closed) return;
    this.#client = undefined;
    clearTimeout(this.#heartbeatTimer);
    this.#scheduleReconnect();
  }

  #scheduleReconnect(): void {
    this.#failures += 1;
    const wait = backOffMilliseconds({ attempt: this.#failures, ...reconnect });
    this.#reconnectTimer = setTimeout(() => {
      this.#connected().then(
        () => this.#listeners.notifyAllOfGap(),
        () => this.#closed || this.#scheduleReconnect(),
      );
    }, wait);
    this.#reconnectTimer.unref();
  }

  // Heartbeat: a connection that was cut silently looks alive until a query fails.
  #scheduleHeartbeat(client: pg.Client): void {
    this.#heartbeatTimer = setTimeout(() => {
      client.query('select 1').then(
        () => this.#client === client && this.#scheduleHeartbeat(client),
        () => client.connection.stream.destroy(),
      );
    }, heartbeatMilliseconds);
    this.#heartbeatTimer.unref();
  }
}
