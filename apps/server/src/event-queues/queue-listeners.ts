import { EventEmitter, once } from 'node:events';
import type { Signals } from '@waxwing/storage';
import type { ServerTransaction } from '../tables.js';

/** Why waiting ended: something happened to the queue, nothing did for as long as allowed, or nobody listens any more. */
export type WaitEnd = 'notified' | 'timed-out' | 'gone';

const channel = 'event-queues';

/**
 * The requests of this process that wait for events. They are told of what any process does to their queues. One waits
 * for each queue in a process: a newer one takes its place.
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
    listeners.#stop = await signals.listen(channel, (queueId) => listeners.#tell(queueId));
    return listeners;
  }

  /** Starts listening, so that what happens between now and {@link QueueListener.wait} is not missed. */
  listen(queueId: string): QueueListener {
    const all = this.#listeners.get(queueId) ?? new Set();
    const listener = new QueueListener(all, () => {
      if (all.size === 0 && this.#listeners.get(queueId) === all) this.#listeners.delete(queueId);
    });
    this.#listeners.set(queueId, all.add(listener));
    return listener;
  }

  /** Tells of something that happens to the queue, once the transaction is committed. */
  async notify(transaction: ServerTransaction, queueId: string): Promise<void> {
    await this.#signals.notify(transaction, channel, queueId);
  }

  /** Hears no more from other processes. */
  close(): void {
    this.#stop?.();
  }

  /** Without a queue's id something may have been missed: everybody has to look. */
  #tell(queueId: string | undefined): void {
    const told = queueId === undefined ? [...this.#listeners.values()] : [this.#listeners.get(queueId) ?? []];
    for (const all of told) for (const listener of all) listener.notify();
  }
}

/** What tells the listeners of every process, for a process that has none itself. */
export function queueNotifier(signals: Signals): Pick<QueueListeners, 'notify'> {
  return { notify: (transaction, queueId) => signals.notify(transaction, channel, queueId) };
}

export class QueueListener {
  /** Who listens to the queue, oldest first. */
  readonly #all: Set<QueueListener>;
  readonly #onClose: () => void;
  readonly #wakes = new EventEmitter();
  /** What has happened since the last wait. */
  #end: WaitEnd = 'timed-out';

  constructor(all: Set<QueueListener>, onClose: () => void) {
    this.#all = all;
    this.#onClose = onClose;
  }

  /** Takes the place of those who began to listen before; to be called once the requester may have what is in the queue. */
  takePlace(): void {
    for (const other of this.#all) {
      if (other === this) return;
      other.end();
    }
  }

  /** Waits until something happens (it may have done so already), `milliseconds` have passed, or `signal` is aborted. */
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

  /** Nobody is to wait here any more. */
  end(): void {
    this.#end = 'gone';
    this.#wakes.emit('wake');
  }

  close(): void {
    this.#all.delete(this);
    this.#onClose();
  }
}

/** That the requester has gone is asked of the signal. */
function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
