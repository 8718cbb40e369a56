/** A client counts as alone if no other client has been active for this long. */
const aloneMilliseconds = 1000;

/** Detects that only one client is active, so that no other client needs protection from it. */
export class SoleClient {
  #last: string | undefined;
  /** When a different client last became active. */
  #changedAt = 0;

  /** Notes that a client is active. Returns whether no other client has been active for a second. */
  isAlone(client: string, now: number): boolean {
    if (client !== this.#last) {
      this.#last = client;
      this.#changedAt = now;
    }
    return now - this.#changedAt > aloneMilliseconds;
  }
}
