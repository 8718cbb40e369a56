import type { AnyTransaction } from '../transaction.js';
import { SignalListeners } from './signal-listeners.js';
import { assertSignalFits, type SignalListener, type Signals } from './signals.js';

/** {@link Signals} within one process. */
export class LocalSignals implements Signals {
  readonly #listeners: SignalListeners;

  constructor(onError: (error: unknown) => void) {
    this.#listeners = new SignalListeners(onError);
  }

  async notify(transaction: AnyTransaction, channel: string, payload: string): Promise<void> {
    assertSignalFits(channel, payload);
    transaction.afterCommit(() => this.#listeners.notify(channel, payload));
  }

  async listen(channel: string, listener: SignalListener): Promise<() => void> {
    return this.#listeners.add(channel, listener);
  }
}
