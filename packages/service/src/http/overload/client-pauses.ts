/**
 * Maximum duration of a piece of work that causes no pause. Low, because a request needs one tick per database result
 * that it awaits. With a piece of 10 ms in each tick, ten results would take a hundred milliseconds.
 */
const shortMilliseconds = 5;
const longestPauseMilliseconds = 50;
/** A client counts as alone if no other client has started a task for this long. */
const aloneMilliseconds = 1000;

/**
 * Pauses a client whose task has blocked the event loop for a long time. A request from another client needs several
 * ticks, and without pauses it would wait for a long task in each of them. A client that is alone is not paused.
 */
export class ClientPauses {
  /** When each client's pause ends, in the order in which the pauses began. */
  readonly #ends = new Map<string, number>();
  #lastClient: string | undefined;
  /** When a different client last began a task. */
  #changedAt = 0;

  /** Pauses the client for half the duration of its task, unless the task was short or the client is alone. */
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

  /** Drops pauses that have ended. Returns the milliseconds until the next pause ends, or 0 if there is no pause. */
  untilNext(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [client, end] of this.#ends) {
      if (end <= now) this.#ends.delete(client);
      else next = Math.min(next, end - now);
    }
    return Number.isFinite(next) ? next : 0;
  }
}
