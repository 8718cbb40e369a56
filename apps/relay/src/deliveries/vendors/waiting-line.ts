const cutAfter = 1024;

/** First in, first out; putting in and taking out cost the same however many wait. */
export class WaitingLine<Entry> {
  #entries: (Entry | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#entries.length - this.#first;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** The one that has waited longest; `undefined` when nobody waits. */
  take(): Entry | undefined {
    if (this.length === 0) return undefined;
    const taken = this.#entries[this.#first];
    // What was taken is kept for nobody.
    this.#entries[this.#first] = undefined;
    this.#first += 1;
    if (this.#first >= cutAfter || this.length === 0) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }
}
