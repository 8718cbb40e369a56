import { EventEmitter, once } from 'node:events';
import type { Signals } from '@waxwing/storage';
import type { ServerTransaction } from '../../tables.js';

/** The reason that a wait ended. `gone` means that the request was aborted or the poll was replaced. */
export type WaitEnd = 'notified' | 'timed-out' | 'gone';

const channel = 'event-queues';

/**
 * The polls in this process that are waiting for events. Notifications come from all processes. A queue has one waiting
 * poll per process: a newer poll replaces the older poll.
 */
export class QueueListeners {
  readonly #signals: Signals;
  readonly #listeners = new Map<string, Set<QueueListener>>();
  #stop: (() => void) | undefined;

  private constructor(signals: Signals) {
    this.#signals = signals;
  }

  static async open(signals: Signals): Promise<QueueListeners> {
    const listeners = new QueueListeners(signals);
    listeners.#stop = await signals.listen(channel, (queueId) => listeners.#wake(queueId));
    return listeners;
  }

  /** Starts listening. Notifications between this call and {@link QueueListener.wait} are not missed. */
  listen(queueId: string): QueueListener {
    const all = this.#listeners.get(queueId) ?? new Set();
    const listener = new QueueListener(all, () => {
      if (all.size === 0 && this.#listeners.get(queueId) === all) this.#listeners.delete(queueId);
    });
    this.#listeners.set(queueId, all.add(listener));
    return listener;
  }

  /** Notifies the listeners of a queue in every process, once the transaction is committed. */
  async notify(transaction: ServerTransaction, queueId: string): Promise<void> {
    await this.#signals.notify(transaction, channel, queueId);
  }

  /** Stops receiving notifications from other processes. */
  close(): void {
    this.#stop?.();
  }

  /**
   * Wakes the listeners of a queue. `undefined` means that notifications may have been missed, and wakes all listeners.
   */
  #wake(queueId: string | undefined): void {
    const notified =
      queueId === undefined ? [...this.#listeners.values()] : [this.#listeners.get(queueId) ?? []];
    for (const all of notified) for (const listener of all) listener.notify();
  }
}

/** Returns a notifier for processes that have no listeners themselves, such as commands. */
export function queueNotifier(signals: Signals): Pick<QueueListeners, 'notify'> {
  return { notify: (transaction, queueId) => signals.notify(transaction, channel, queueId) };
}

export class QueueListener {
  /** The listeners of this queue, oldest first. */
  readonly #all: Set<QueueListener>;
  readonly #onClose: () => void;
  readonly #wakes = new EventEmitter();
  /** The reason that the next wait ends immediately. With `timed-out`, the next wait blocks. */
  #end: WaitEnd = 'timed-out';

  constructor(all: Set<QueueListener>, onClose: () => void) {
    this.#all = all;
    this.#onClose = onClose;
  }

  /** Replaces older polls of the queue. Call this after verifying that the actor may access the queue. */
  replaceOlder(): void {
    for (const other of this.#all) {
      if (other === this) return;
      other.end();
    }
  }

  /**
   * Waits until the queue is notified, `milliseconds` elapse or `signal` is aborted. Returns immediately if a
   * notification is pending.
   */
  async wait(milliseconds: number, signal: AbortSignal): Promise<WaitEnd> {
    if (this.#end === 'timed-out') {
      const timer = setTimeout(() => this.#wakes.emit('wake'), milliseconds);
      await once(this.#wakes, 'wake', { signal }).catch(ignoreAbort);
      clearTimeout(timer);
    }
    const end = signal.aborted ? 'gone' : this.#end;
    if (this.#end === 'notified') this.#end = 'timed-out';
    return end;
  }

  notify(): void {
    if (this.#end === 'timed-out') this.#end = 'notified';
    this.#wakes.emit('wake');
  }

  /** Ends the current wait and all later waits. */
  end(): void {
    this.#end = 'gone';
    this.#wakes.emit('wake');
  }

  close(): void {
    this.#all.delete(this);
    this.#onClose();
  }
}

/** Ignores an `AbortError`, because the caller checks the signal. Rethrows all other errors. */
function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
