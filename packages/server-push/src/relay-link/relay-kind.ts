/**
 * Learns from the answers to notify requests whether the relay is ours (of this project) or a stock relay: only ours
 * reports a result for each device. A stock relay has no batch requests, and may answer 500 after it has delivered if a
 * request names two devices.
 */
export class RelayKind {
  #kind: 'ours' | 'stock' | undefined;

  /** Whether the relay is known to accept many devices in one request. */
  get isOurs(): boolean {
    return this.#kind === 'ours';
  }

  /** Whether the relay is known not to support requests that only this project's relay knows. */
  get isStock(): boolean {
    return this.#kind === 'stock';
  }

  learn(kind: 'ours' | 'stock'): void {
    this.#kind = kind;
  }
}
