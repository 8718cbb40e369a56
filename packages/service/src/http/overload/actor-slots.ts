import { FifoQueue } from '../../lifecycle/fifo-queue.js';

interface Slots {
  taken: number;
  readonly waiting: FifoQueue<() => void>;
}

/** Limits the pieces of work of each actor that run at once. The others of the same actor wait, FIFO. */
export class ActorSlots {
  readonly #maximum: number;
  /** Actors with at least one slot taken. */
  readonly #actors = new Map<string, Slots>();

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Takes a slot at once. Call the returned function to release it. `undefined` if there is none. */
  take(actor: string): (() => void) | undefined {
    const slots = this.#actors.get(actor) ?? { taken: 0, waiting: new FifoQueue() };
    if (slots.taken >= this.#maximum) return undefined;
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

  /** Idempotent. Hands the slot over to the one that waits longest. */
  #releaseOf(actor: string, slots: Slots): () => void {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = slots.waiting.take();
      if (next !== undefined) {
        next();
        return;
      }
      slots.taken -= 1;
      if (slots.taken === 0) this.#actors.delete(actor);
    };
  }
}
