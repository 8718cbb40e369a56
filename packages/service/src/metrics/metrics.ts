import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { answerWithin } from '../lifecycle/answer-within.js';

const countTimeoutMilliseconds = 3000;

/** How many jobs of a kind there are in each state. */
export interface JobCounts {
  readonly kind: string;
  readonly due: number;
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
}

/** What an HTTP side holds at the moment. */
export interface HttpCounts {
  readonly connections: number;
  readonly requestsInFlight: number;
  readonly bodyBytesInFlight: number;
}

/** The process's metrics: the only module that knows the metrics library. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #beforeText: (() => Promise<void>)[] = [];
  readonly #httpSides: (() => HttpCounts)[] = [];
  readonly requestSeconds: Histogram<'operation' | 'status'>;
  /** Counts connections and requests that were refused or ended though nothing was wrong with them. */
  readonly httpRefusals: Counter<'reason'>;
  /** Counts requests whose requester went away before they were answered. */
  readonly httpAborted: Counter;
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
    this.httpRefusals = this.counter(
      'waxwing_http_refusals_total',
      'Connections and requests that were refused or ended because of a limit, by limit',
      ['reason'],
    );
    this.httpAborted = this.counter(
      'waxwing_http_aborted_total',
      'Requests whose requester went away before they were answered',
    );
    this.rowsRemoved = this.counter(
      'waxwing_rows_removed_total',
      'Rows that clean-up removed because they were old, by what they were',
      ['kind'],
    );
  }

  /**
   * Has the jobs counted whenever somebody asks for the metrics; whoever asks meanwhile gets the same counts. While they
   * cannot be counted within three seconds there is no such metric; why not is readiness's to tell.
   */
  watchJobs(count: () => Promise<readonly JobCounts[]>): void {
    const gauge = this.gauge(
      'waxwing_jobs',
      'Jobs in the database by kind and state, each number up to 10000; all processes on one database tell the same',
      ['kind', 'state'],
    );
    let underWay: Promise<readonly JobCounts[]> | undefined;
    this.#beforeText.push(async () => {
      underWay ??= count()
        .catch(() => [])
        .finally(() => {
          underWay = undefined;
        });
      const counts = await answerWithin(countTimeoutMilliseconds, underWay, []);
      gauge.reset();
      for (const { kind, ...states } of counts) {
        for (const [state, value] of Object.entries(states)) gauge.set({ kind, state }, value);
      }
    });
  }

  /**
   * Has the size of SQLite's write-ahead log asked whenever somebody asks for the metrics; there is no such metric where
   * it has none.
   */
  watchDatabaseLog(bytes: () => number | undefined): void {
    if (bytes() === undefined) return;
    const gauge = this.gauge('waxwing_database_log_bytes', "Bytes of SQLite's write-ahead log");
    this.#beforeText.push(async () => gauge.set(bytes() ?? 0));
  }

  /** Has what an HTTP side holds asked whenever somebody asks for the metrics; several of them are counted together. */
  watchHttp(count: () => HttpCounts): void {
    this.#httpSides.push(count);
    if (this.#httpSides.length > 1) return;
    const connections = this.gauge('waxwing_http_connections', 'Open connections');
    const requests = this.gauge('waxwing_http_requests_in_flight', 'Requests that are not answered yet');
    const bytes = this.gauge('waxwing_http_body_bytes_in_flight', 'Bytes of the bodies of those requests');
    this.#beforeText.push(async () => {
      const counts = this.#httpSides.map((side) => side());
      connections.set(sum(counts.map((side) => side.connections)));
      requests.set(sum(counts.map((side) => side.requestsInFlight)));
      bytes.set(sum(counts.map((side) => side.bodyBytesInFlight)));
    });
  }

  /** Adds memory, event loop and garbage collection figures of this process. */
  collectProcessMetrics(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  /** @param collect adds what was counted elsewhere, whenever somebody asks for the metrics. */
  counter<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    collect: () => void = () => undefined,
  ): Counter<L> {
    return new Counter({ name, help, labelNames, collect, registers: [this.#registry] });
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Everything in the Prometheus text format. */
  async text(): Promise<string> {
    await Promise.all(this.#beforeText.map((look) => look()));
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
