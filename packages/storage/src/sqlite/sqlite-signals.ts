import type { DatabaseRole } from '../backend.js';
import { SignalListeners } from '../signals/signal-listeners.js';
import { assertSignalFits, type SignalListener, type Signals } from '../signals/signals.js';
import type { AnyTransaction } from '../transaction.js';
import type { SqliteDatabase } from './open-sqlite.js';
import { translateSqliteError } from './sqlite-errors.js';

const pollMilliseconds = 200;
// The counter is a signed 32-bit integer in the header of the file.
const maximumCounter = 0x7fff_ffff;

export interface SqliteSignalsOptions {
  readonly role: DatabaseRole;
  readonly writer: SqliteDatabase;
  readonly reader: SqliteDatabase;
  /** Called with errors that listeners throw, and with errors that occur when the counter is read. */
  onError(error: unknown): void;
}

/**
 * {@link Signals} within the serving process, and from commands to the serving process. A command increments
 * `user_version` in the transaction that sends the signal. The serving process reads this counter five times a second.
 * If it has changed, signals may have been missed, so the listeners are called with `undefined`.
 */
export class SqliteSignals implements Signals {
  readonly #options: SqliteSignalsOptions;
  readonly #listeners: SignalListeners;
  readonly #counted = new WeakSet<AnyTransaction>();
  readonly #poll: NodeJS.Timeout | undefined;
  #seen: number;
  #isFailing = false;

  constructor(options: SqliteSignalsOptions) {
    this.#options = options;
    this.#listeners = new SignalListeners(options.onError);
    this.#seen = counterOf(options.reader);
    if (options.role === 'serving')
      this.#poll = setInterval(() => this.#readCounter(), pollMilliseconds).unref();
  }

  async notify(transaction: AnyTransaction, channel: string, payload: string): Promise<void> {
    assertSignalFits(channel, payload);
    if (this.#options.role === 'visiting') this.#countUp(transaction);
    transaction.afterCommit(() => this.#listeners.notify(channel, payload));
  }

  async listen(channel: string, listener: SignalListener): Promise<() => void> {
    return this.#listeners.add(channel, listener);
  }

  close(): void {
    clearInterval(this.#poll);
  }

  /** Increments the counter once per transaction, on the connection that the transaction uses. */
  #countUp(transaction: AnyTransaction): void {
    if (this.#counted.has(transaction)) return;
    this.#counted.add(transaction);
    const { writer } = this.#options;
    transaction.beforeCommit(async () => {
      writer.exec(`pragma user_version = ${(counterOf(writer) + 1) % maximumCounter}`);
    });
  }

  #readCounter(): void {
    try {
      const counter = counterOf(this.#options.reader);
      this.#isFailing = false;
      if (counter === this.#seen) return;
      this.#seen = counter;
    } catch (error) {
      // Reports each failure once, not five times a second.
      if (!this.#isFailing) this.#options.onError(translateSqliteError(error));
      this.#isFailing = true;
      return;
    }
    this.#listeners.notifyAllOfGap();
  }
}

function counterOf(database: SqliteDatabase): number {
  return Number(database.prepare('pragma user_version').get()?.user_version);
}
