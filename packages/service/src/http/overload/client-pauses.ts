/** Shorter pieces of work cause no pause. */
const shortMilliseconds = 10;
const longestPauseMilliseconds = 50;
/** If no other client has run for this long, the client is alone. */
const aloneMilliseconds = 1000;

/**
 * Pauses a client whose act has blocked the event loop for long. A request of another client takes several ticks from
 * connection to answer. Without pauses, it would wait for a long act in each of them. A client that is alone is not
 * paused.
 */
export class ClientPauses {
  /** The end of each client's pause, in the order in which the pauses began. */
  readonly #ends = new Map<string, number>();
  #lastClient: string | undefined;
  /** When the acting client last changed. */
  #changedAt = 0;

  /** Pauses the client for half the duration of its act. */
  charge(client: string, milliseconds: number, now: number): void {
    if (client !== this.#lastClient) {
      this.#lastClient = client;
      this.#changedAt = now;
    }
    if (milliseconds <= shortMilliseconds || now - this.#changedAt > aloneMilliseconds) return;
    this.#ends.set(client, now + Math.min(milliseconds / 2, longestPauseMilliseconds));
  }

  has(client: string, now: number): boolean {
    const end = this.#ends.get(client);
    if (end === undefined) return false;
    if (now < end) return true;
    this.#ends.delete(client);
    return false;
  }

  /** Drops pauses that are over. Returns the milliseconds until the next pause ends, or 0 if there is none. */
  untilNext(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [client, end] of this.#ends) {
      if (end <= now) this.#ends.delete(client);
      else next = Math.min(next, end - now);
    }
    return Number.isFinite(next) ? next : 0;
  }
}
