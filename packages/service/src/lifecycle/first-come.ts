interface Link<Item> {
  readonly item: Item;
  next: Link<Item> | undefined;
}

/** What waits, first come, first taken; each takes the same time, however many there are. */
export class FirstCome<Item> {
  #first: Link<Item> | undefined;
  #last: Link<Item> | undefined;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** What is taken next; undefined when there is none. */
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

  /** What came first of those that are left; undefined when there is none. */
  take(): Item | undefined {
    const link = this.#first;
    if (link === undefined) return undefined;
    this.#first = link.next;
    if (this.#first === undefined) this.#last = undefined;
    this.#count -= 1;
    return link.item;
  }
}
