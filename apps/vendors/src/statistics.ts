/** Counts of one listener's connections since the start. */
export class ConnectionCounts {
  opened = 0;
  open = 0;

  toJson(): object {
    return { connections: this.opened, open_connections: this.open };
  }
}

/** Counts of one vendor's requests since the start, by outcome. */
export class RequestCounts {
  requests = 0;
  /** Count per outcome: `200`, `410 Unregistered`, `reset before`, `no answer`, `goaway`. */
  readonly #answers = new Map<string, number>();

  countAnswer(answer: string): void {
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
  }

  toJson(): object {
    return { requests: this.requests, answers: Object.fromEntries(this.#answers) };
  }
}
