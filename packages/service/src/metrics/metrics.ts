import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { answerWithin } from '../lifecycle/answer-within.js';

const countTimeoutMilliseconds = 3000;

/** Jobs of one kind by state. */
export interface JobCounts {
  readonly kind: string;
  readonly due: number;
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
}

/** Current load of an HTTP app. */
export interface HttpCounts {
  readonly connections: number;
  readonly requestsInFlight: number;
  readonly bodyBytesInFlight: number;
}

export type CheckResult = 'passed' | 'warning' | 'failed';

/** The process's metrics. No other module uses the metrics library. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #beforeText: (() => Promise<void>)[] = [];
  readonly #httpSides: (() => HttpCounts)[] = [];
  readonly requestSeconds: Histogram<'operation' | 'status'>;
  /** Valid connections and requests that were refused or ended because of a limit. */
  readonly httpRefusals: Counter<'reason'>;
  /** Requests whose client disconnected before the response was sent. */
  readonly httpAborted: Counter;
  /** Rows removed by cleanups. `kind` is the kind of rows. */
  readonly rowsRemoved: Counter<'kind'>;

  constructor() {
    this.requestSeconds = this.secondsHistogram(
      'waxwing_http_request_seconds',
      'Time to answer a request, by operation and HTTP status',
      ['operation', 'status'],
      [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60],
    );
    this.httpRefusals = this.counter(
      'waxwing_http_refusals_total',
      'Connections and requests that were refused or ended because of a limit, by limit',
      ['reason'],
    );
    this.httpAborted = this.counter(
      'waxwing_http_aborted_total',
      'Requests whose client disconnected before the answer',
    );
    this.rowsRemoved = this.counter('waxwing_rows_removed_total', 'Old rows that clean-up removed, by kind', [
      'kind',
    ]);
  }

  /**
   * Counts jobs at each scrape. Single-flight: concurrent scrapes share one count. If counting fails or takes longer
   * than three seconds, the metric is missing from that scrape, and the readiness checks report the reason.
   */
  watchJobs(count: () => Promise<readonly JobCounts[]>): void {
    const gauge = this.gauge(
      'waxwing_jobs',
      'Jobs in the database by kind and state, each number up to 10000; all processes on one database report the same',
      ['kind', 'state'],
    );
    let running: Promise<readonly JobCounts[]> | undefined;
    this.beforeScrape(async () => {
      running ??= count()
        .catch(() => [])
        .finally(() => {
          running = undefined;
        });
      const counts = await answerWithin(countTimeoutMilliseconds, running, []);
      gauge.reset();
      for (const { kind, ...states } of counts) {
        for (const [state, value] of Object.entries(states)) gauge.set({ kind, state }, value);
      }
    });
  }

  /** Reads the size of SQLite's write-ahead log at each scrape. If there is no such log, the metric is not registered. */
  watchDatabaseLog(bytes: () => number | undefined): void {
    if (bytes() === undefined) return;
    const gauge = this.gauge('waxwing_database_log_bytes', "Bytes of SQLite's write-ahead log");
    this.beforeScrape(async () => gauge.set(bytes() ?? 0));
  }

  /** Reads an HTTP app's load at each scrape. If the process has several apps, their loads are added up. */
  watchHttp(count: () => HttpCounts): void {
    this.#httpSides.push(count);
    if (this.#httpSides.length > 1) return;
    const connections = this.gauge('waxwing_http_connections', 'Open connections');
    const requests = this.gauge('waxwing_http_requests_in_flight', 'Requests that are not answered yet');
    const bytes = this.gauge(
      'waxwing_http_body_bytes_in_flight',
      'Body bytes of requests that are not answered yet',
    );
    this.beforeScrape(async () => {
      const counts = this.#httpSides.map((side) => side());
      connections.set(sum(counts.map((side) => side.connections)));
      requests.set(sum(counts.map((side) => side.requestsInFlight)));
      bytes.set(sum(counts.map((side) => side.bodyBytesInFlight)));
    });
  }

  /** Sets the version of the program, such as `0.1.0`, as a label of a gauge that is always 1. */
  setVersion(version: string): void {
    this.gauge('waxwing_build_info', 'The version of the program, always 1', ['version']).set({ version }, 1);
  }

  /**
   * Runs the readiness checks at each scrape, and sets a gauge for each check: 1 if it passes, 0 if it fails. A second
   * gauge shows whether the check passes with a warning.
   */
  watchReadiness(look: () => Promise<Readonly<Record<string, CheckResult>>>): void {
    const passes = this.gauge('waxwing_readiness_check', 'Readiness checks: passes (1) or fails (0)', [
      'check',
    ]);
    const warns = this.gauge(
      'waxwing_readiness_warning',
      'Readiness checks that pass with a warning (1) or without one (0)',
      ['check'],
    );
    this.beforeScrape(async () => {
      for (const [check, result] of Object.entries(await look())) {
        passes.set({ check }, result === 'failed' ? 0 : 1);
        warns.set({ check }, result === 'warning' ? 1 : 0);
      }
    });
  }

  /** Registers a function that is called and awaited at the start of each scrape. The function must not reject. */
  beforeScrape(look: () => Promise<void>): void {
    this.#beforeText.push(look);
  }

  /** Adds the memory, event loop, garbage collection and clock metrics of this process. */
  collectProcessMetrics(): void {
    collectDefaultMetrics({ register: this.#registry });
    const clock = this.gauge('waxwing_clock_timestamp_seconds', 'The clock of this process, in Unix seconds');
    this.beforeScrape(async () => clock.set(Date.now() / 1000));
  }

  /** @param collect runs at each scrape, to add counts from elsewhere. */
  counter<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    collect: () => void = () => undefined,
  ): Counter<L> {
    return new Counter({ name, help, labelNames, collect, registers: [this.#registry] });
  }

  /** @param buckets upper bounds in seconds, in ascending order */
  secondsHistogram<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[],
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [this.#registry] });
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Returns all metrics in the Prometheus text format. */
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
