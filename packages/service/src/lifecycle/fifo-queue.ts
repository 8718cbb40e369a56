interface Link<Item> {
  readonly item: Item;
  next: Link<Item> | undefined;
}

/** First-in, first-out queue, as a linked list. Each operation takes O(1). */
export class FifoQueue<Item> {
  #first: Link<Item> | undefined;
  #last: Link<Item> | undefined;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The item that {@link take} would return; `undefined` if the queue is empty. */
  get first(): Item | undefined {
    return this.#first?.item;
  }

  add(item: Item): void {
    const link = { item, next: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#count += 1;
  }

  /** Removes and returns the oldest item; `undefined` if the queue is empty. */
  take(): Item | undefined {
    const link = this.#first;
    if (link === undefined) return undefined;
    this.#first = link.next;
    if (this.#first === undefined) this.#last = undefined;
    this.#count -= 1;
    return link.item;
  }
}
