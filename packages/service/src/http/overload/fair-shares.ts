/** Counts a resource per client, and splits a limit evenly between the clients that use it. */
export class FairShares {
  /** Clients that use at least one unit. */
  readonly #clients = new Map<string, number>();
  #count = 0;

  /** Number of units in use by all clients. */
  get count(): number {
    return this.#count;
  }

  /** Number of units in use by one client. */
  of(client: string): number {
    return this.#clients.get(client) ?? 0;
  }

  /**
   * Whether a client may use one more unit. It may if the total is below `limit` or if the client is below its fair
   * share of the limit.
   */
  hasRoom(client: string, limit: number): boolean {
    const own = this.of(client);
    const clients = this.#clients.size + (own === 0 ? 1 : 0);
    return this.#count < limit || own + 1 <= limit / clients;
  }

  add(client: string): void {
    this.#count += 1;
    this.#clients.set(client, this.of(client) + 1);
  }

  /** Releases one unit of a client, which must have at least one. */
  remove(client: string): void {
    this.#count -= 1;
    const left = this.of(client) - 1;
    if (left > 0) this.#clients.set(client, left);
    else this.#clients.delete(client);
  }
}
