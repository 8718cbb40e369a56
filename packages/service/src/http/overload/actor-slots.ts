import { FifoQueue } from '../../lifecycle/fifo-queue.js';

interface Slots {
  taken: number;
  /**
   * Decaying maximum of the durations of the actor's pieces of work. Each shorter piece lowers the maximum by an eighth
   * of the difference.
   */
  milliseconds: number;
  readonly waiting: FifoQueue<() => void>;
}

/** Actors whose pieces of work take longer than this get only one slot. */
const longMilliseconds = 20;
const decay = 1 / 8;

/**
 * Limits how many pieces of work run concurrently for each actor. Further pieces of the same actor wait in a FIFO
 * queue. While an actor's pieces are slow, only one runs at a time. Otherwise three writes by one actor would use up
 * all database transactions, and the results of three long queries would fill every tick.
 */
export class ActorSlots {
  readonly #maximum: number;
  /** Actors that have at least one slot. */
  readonly #actors = new Map<string, Slots>();

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Takes a free slot and returns the function that releases it. Returns `undefined` if no slot is free. */
  take(actor: string): (() => void) | undefined {
    const slots = this.#actors.get(actor) ?? { taken: 0, milliseconds: 0, waiting: new FifoQueue() };
    if (slots.taken >= this.#maximumOf(slots)) return undefined;
    slots.taken += 1;
    this.#actors.set(actor, slots);
    return this.#releaseOf(actor, slots);
  }

  /** Waits for a free slot, takes it, and returns the function that releases it. */
  async wait(actor: string): Promise<() => void> {
    const release = this.take(actor);
    if (release !== undefined) return release;
    const slots = this.#actors.get(actor) as Slots;
    await new Promise<void>((resolve) => slots.waiting.add(resolve));
    return this.#releaseOf(actor, slots);
  }

  #maximumOf({ milliseconds }: Slots): number {
    return milliseconds > longMilliseconds ? 1 : this.#maximum;
  }

  /**
   * Returns a function that releases a slot and passes it to the piece of work that has waited longest. The function is
   * idempotent.
   */
  #releaseOf(actor: string, slots: Slots): () => void {
    const since = performance.now();
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const taken = performance.now() - since;
      slots.milliseconds = Math.max(taken, slots.milliseconds + (taken - slots.milliseconds) * decay);
      slots.taken -= 1;
      while (slots.taken < this.#maximumOf(slots) && slots.waiting.count > 0) {
        slots.taken += 1;
        slots.waiting.take()?.();
      }
      if (slots.taken === 0) this.#actors.delete(actor);
    };
  }
}
