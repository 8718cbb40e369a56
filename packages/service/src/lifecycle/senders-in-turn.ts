import { FirstCome } from './first-come.js';

interface Sender<Waiting> {
  readonly name: string;
  readonly waiting: FirstCome<Waiting>;
}

/**
 * What waits, taken one of each sender in turn, and of one sender in its order; each takes the same time, however many
 * there are.
 */
export class SendersInTurn<Waiting> {
  /** Those of whom something waits; whoever has nothing left is forgotten. */
  readonly #senders = new Map<string, Sender<Waiting>>();
  readonly #turns = new FirstCome<Sender<Waiting>>();
  #count = 0;
  /** Who was forgotten last: most often the next one to come. */
  #last: Sender<Waiting> | undefined;

  /** How much waits, of everybody. */
  get count(): number {
    return this.#count;
  }

  /** Of how many something waits. */
  get senders(): number {
    return this.#senders.size;
  }

  countOf(sender: string): number {
    return this.#senders.get(sender)?.waiting.count ?? 0;
  }

  add(name: string, waiting: Waiting): void {
    let sender = this.#senders.get(name);
    if (sender === undefined) {
      sender = this.#last?.name === name ? this.#last : { name, waiting: new FirstCome() };
      this.#senders.set(name, sender);
      this.#turns.add(sender);
    }
    this.#count += 1;
    sender.waiting.add(waiting);
  }

  /**
   * What has waited for longest of the sender whose turn it is; undefined when nothing waits. What is over is left out, and
   * costs nobody a turn.
   */
  take(isOver: (waiting: Waiting) => boolean = () => false): Waiting | undefined {
    for (;;) {
      const sender = this.#turns.take();
      if (sender === undefined) return undefined;
      const taken = this.#takeOf(sender, isOver);
      // Behind all the others.
      if (sender.waiting.count > 0) this.#turns.add(sender);
      else {
        this.#senders.delete(sender.name);
        this.#last = sender;
      }
      if (taken !== undefined) return taken;
    }
  }

  #takeOf({ waiting }: Sender<Waiting>, isOver: (waiting: Waiting) => boolean): Waiting | undefined {
    while (waiting.count > 0) {
      const taken = waiting.take();
      this.#count -= 1;
      if (taken !== undefined && !isOver(taken)) return taken;
    }
    return undefined;
  }
}
