/**
 * Whether the relay is this project's or a stock one, learned from its answers to notify requests: only ours reports a
 * result for each device. A stock relay has no batch requests, and may answer 500 after it has delivered if a request
 * names two devices.
 */
export class RelayKind {
  #kind: 'ours' | 'stock' | undefined;

  /** Whether the relay takes many devices in one request. Not before it has shown so. */
  get isOurs(): boolean {
    return this.#kind === 'ours';
  }

  /** Whether requests that only this project's relay knows are in vain. */
  get isStock(): boolean {
    return this.#kind === 'stock';
  }

  learn(kind: 'ours' | 'stock'): void {
    this.#kind = kind;
  }
}
