/** Shorter acts cause no pause. */
const shortMilliseconds = 10;
const longestPauseMilliseconds = 50;
/** A client without any other for this long is alone. */
const aloneMilliseconds = 1000;

/**
 * Pauses a client after an act that blocked the event loop for long. A request of another client takes several ticks, from
 * its connection to its answer: without pauses it would wait for a long act in each of them. A client that is alone is not
 * paused.
 */
export class ClientPauses {
  /** When the pause of each client ends, in the order in which they began. */
  readonly #ends = new Map<string, number>();
  #lastClient: string | undefined;
  /** When an act last followed one of another client. */
  #changedAt = 0;

  /** Pauses the client for half of the time that its act took. */
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

  /** Drops pauses that are over. Returns the time until the next one is, 0 if there is none. */
  untilNext(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [client, end] of this.#ends) {
      if (end <= now) this.#ends.delete(client);
      else next = Math.min(next, end - now);
    }
    return Number.isFinite(next) ? next : 0;
  }
}
