/**
 * Records whether the relay is this project's relay or a stock relay, as learned from the responses to notify requests:
 * only this project's relay reports a result for each device. A stock relay has no batch requests. If a request names
 * two devices, a stock relay may respond with 500 after it has delivered.
 */
export class RelayKind {
  #kind: 'ours' | 'stock' | undefined;

  /** Whether the relay is known to accept many devices in one request. */
  get isOurs(): boolean {
    return this.#kind === 'ours';
  }

  /** Whether the relay is known to be a stock relay, which does not know this project's additional requests. */
  get isStock(): boolean {
    return this.#kind === 'stock';
  }

  learn(kind: 'ours' | 'stock'): void {
    this.#kind = kind;
  }
}
