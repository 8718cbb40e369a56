/** How many each of several has of something, of which all may have equal parts. */
export class EqualParts {
  /** Those who have some. */
  readonly #holders = new Map<string, number>();
  #count = 0;

  /** How many all have together. */
  get count(): number {
    return this.#count;
  }

  /** How many a holder has. */
  of(holder: string): number {
    return this.#holders.get(holder) ?? 0;
  }

  /** Whether there is room for one more among `most`, or the holder has less than its part of them. */
  hasRoom(holder: string, most: number): boolean {
    const own = this.of(holder);
    const holders = this.#holders.size + (own === 0 ? 1 : 0);
    return this.#count < most || own + 1 <= most / holders;
  }

  add(holder: string): void {
    this.#count += 1;
    this.#holders.set(holder, this.of(holder) + 1);
  }

  /** Takes one from a holder, who must have one. */
  remove(holder: string): void {
    this.#count -= 1;
    const left = this.of(holder) - 1;
    if (left > 0) this.#holders.set(holder, left);
    else this.#holders.delete(holder);
  }
}
