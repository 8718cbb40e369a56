import { FifoQueue } from '../../lifecycle/fifo-queue.js';

interface Slots {
  taken: number;
  /** How long pieces take: the longest one, which each shorter one brings down by an eighth of the difference. */
  milliseconds: number;
  readonly waiting: FifoQueue<() => void>;
}

/** An actor whose pieces take longer has one slot. */
const longMilliseconds = 20;
const decay = 1 / 8;

/**
 * Limits the pieces of work of each actor that run at once. The others of the same actor wait, FIFO. While an actor's pieces
 * take long, one runs at a time: three writes of one actor would use every transaction of the database, and the results of
 * three long queries would fill every tick.
 */
export class ActorSlots {
  readonly #maximum: number;
  /** Actors with at least one slot taken. */
  readonly #actors = new Map<string, Slots>();

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Takes a slot at once. Call the returned function to release it. `undefined` if there is none. */
  take(actor: string): (() => void) | undefined {
    const slots = this.#actors.get(actor) ?? { taken: 0, milliseconds: 0, waiting: new FifoQueue() };
    if (slots.taken >= this.#maximumOf(slots)) return undefined;
    slots.taken += 1;
    this.#actors.set(actor, slots);
    return this.#releaseOf(actor, slots);
  }

  /** Takes a slot as soon as there is one. */
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

  /** Idempotent. Hands the slot over to the one that waits longest. */
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
