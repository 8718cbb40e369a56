/**
 * Whether the relay is this project's or a stock one, learned from its answers to notify requests: only ours reports a
 * result for each device. A stock relay has no batch requests. If a request names two devices, it may answer 500 after
 * it has delivered.
 */
export class RelayKind {
  #kind: 'ours' | 'stock' | undefined;

  /** Whether the relay is known to accept many devices in one request. */
  get isOurs(): boolean {
    return this.#kind === 'ours';
  }

  /** Whether it is useless to send requests that only this project's relay knows. */
  get isStock(): boolean {
    return this.#kind === 'stock';
  }

  learn(kind: 'ours' | 'stock'): void {
    this.#kind = kind;
  }
}
