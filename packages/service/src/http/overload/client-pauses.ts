import { SoleClient } from './sole-client.js';

/**
 * Maximum duration of a piece of work that causes no pause. Low, because a request needs one tick per database result
 * that it awaits. With a piece of 10 ms in each tick, ten results would take a hundred milliseconds.
 */
const shortMilliseconds = 5;
const longestPauseMilliseconds = 50;

/**
 * Pauses a client whose task has blocked the event loop for a long time. A request from another client needs several
 * ticks, and without pauses it would wait for a long task in each of them. A client that is alone is not paused.
 */
export class ClientPauses {
  /** When each client's pause ends, in the order in which the pauses began. */
  readonly #ends = new Map<string, number>();
  readonly #sole = new SoleClient();

  /** Pauses the client for half the duration of its task, unless the task was short or the client is alone. */
  charge(client: string, milliseconds: number, now: number): void {
    if (this.#sole.isAlone(client, now) || milliseconds <= shortMilliseconds) return;
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
