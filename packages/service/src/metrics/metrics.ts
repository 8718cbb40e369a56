import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The process's metrics: the only module that knows the metrics library. */
export class Metrics {
  readonly #registry = new Registry();
  readonly requestSeconds: Histogram<'operation' | 'status'>;
  /** Counts what clean-up removes; `kind` is the schedule's word for it. */
  readonly rowsRemoved: Counter<'kind'>;

  constructor() {
    this.requestSeconds = new Histogram({
      name: 'waxwing_http_request_seconds',
      help: 'Time to answer a request, by operation and HTTP status',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60],
      registers: [this.#registry],
    });
    this.rowsRemoved = this.counter(
      'waxwing_rows_removed_total',
      'Rows that clean-up removed because they were old, by what they were',
      ['kind'],
    );
  }

  /** Adds memory, event loop and garbage collection figures of this process. */
  collectProcessMetrics(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Everything in the Prometheus text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }
}
