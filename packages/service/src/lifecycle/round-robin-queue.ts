import { FifoQueue } from './fifo-queue.js';

interface Client<Item> {
  readonly name: string;
  readonly items: FifoQueue<Item>;
}

/** Queue that is round-robin across clients and FIFO within a client. Each operation takes O(1). */
export class RoundRobinQueue<Item> {
  /** Clients with at least one item. */
  readonly #clients = new Map<string, Client<Item>>();
  readonly #rotation = new FifoQueue<Client<Item>>();
  #count = 0;
  /**
   * The client whose queue was emptied last. The object is reused, because that client is usually the next to add an
   * item.
   */
  #last: Client<Item> | undefined;

  /** Number of items of all clients. */
  get count(): number {
    return this.#count;
  }

  /** Number of clients with at least one item. */
  get clients(): number {
    return this.#clients.size;
  }

  countOf(client: string): number {
    return this.#clients.get(client)?.items.count ?? 0;
  }

  add(name: string, item: Item): void {
    let client = this.#clients.get(name);
    if (client === undefined) {
      client = this.#last?.name === name ? this.#last : { name, items: new FifoQueue() };
      this.#clients.set(name, client);
      this.#rotation.add(client);
    }
    this.#count += 1;
    client.items.add(item);
  }

  /**
   * Removes and returns the oldest item of the next client in the rotation. Returns `undefined` if the queue is empty.
   * Drops items for which `isOver` is true; a dropped item does not use up its client's turn. Skips clients for which
   * `isPaused` is true, and returns `undefined` if this applies to all clients.
   */
  take(
    isOver: (item: Item) => boolean = () => false,
    isPaused: (client: string) => boolean = () => false,
  ): Item | undefined {
    for (let left = this.#rotation.count; left > 0; left -= 1) {
      const client = this.#rotation.take() as Client<Item>;
      const taken = isPaused(client.name) ? undefined : this.#takeOf(client, isOver);
      if (client.items.count > 0) this.#rotation.add(client);
      else {
        this.#clients.delete(client.name);
        this.#last = client;
      }
      if (taken !== undefined) return taken;
    }
    return undefined;
  }

  #takeOf({ items }: Client<Item>, isOver: (item: Item) => boolean): Item | undefined {
    while (items.count > 0) {
      const taken = items.take();
      this.#count -= 1;
      if (taken !== undefined && !isOver(taken)) return taken;
    }
    return undefined;
  }
}
