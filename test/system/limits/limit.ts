import { performance } from 'node:perf_hooks';
import { expect } from 'vitest';
import { RawConnection } from '../../packages/service/http/listening-app.js';
import { measureSlowdown } from '../../support/slowdown.js';
import { type Answer, ask, type Question } from './ask.js';

/** A process under test, with its URL and metrics. */
export interface Place {
  readonly url: string;
  metricsText(): Promise<string>;
  /** Requests from a client that reaches no limit. */
  honest(): readonly Question[];
}

/** One row of the tables in docs/limits.md, and how to provoke the limit. */
export interface Limit<World> {
  readonly id: string;
  /** Start of the metrics line that counts refusals by this limit, if there is one. */
  readonly metric?: string;
  /** Status, code and Retry-After header of the first response beyond the limit. */
  readonly answer: readonly [status: number, code?: string, retryAfter?: string];
  /** Requests that the limit does not affect: all other requests, requests without a body, or only health checks. */
  readonly spares?: 'everybody' | 'who-sends-no-body' | 'health';
  /**
   * Reaches the limit and goes one step beyond it. Resolves to the response. {@link Door.close} closes the connections
   * afterwards.
   */
  provoke(world: World, door: Door): Promise<Answer>;
  /** Undoes the provocation, except for connections, and waits until the process is back to normal. */
  end?(world: World, door: Door): Promise<void>;
}

const requestsMeanwhile = 12;
const betweenMilliseconds = 10;
const p99Milliseconds = 200;
const measurements = 3;
const mostSlowdown = 2;
/** Allowed latency of other clients, as a multiple of the latency before the limit was reached. */
const mostTimesAsLong = 5;

/** Start of the metrics line that counts HTTP refusals for a reason. */
export const refusals = (reason: string): string => `waxwing_http_refusals_total{reason="${reason}"}`;

/** Start of the metrics line that counts requests with this operation and status. */
export const answered = (operation: string, status: number): string =>
  `waxwing_http_request_seconds_count{operation="${operation}",status="${status}"}`;

/** Opens connections to a process under test, and reads its metrics. */
export class Door {
  readonly place: Place;
  readonly #connections: RawConnection[] = [];

  constructor(place: Place) {
    this.place = place;
  }

  /** Connects from the given local address, or to the given Unix socket. */
  async connect(where?: string | { readonly path: string }): Promise<RawConnection> {
    const connection =
      typeof where === 'object'
        ? await RawConnection.to(where)
        : await RawConnection.open(Number(new URL(this.place.url).port), where);
    this.#connections.push(connection);
    return connection;
  }

  /** Sends this many requests, each on a new connection, and waits until all are in flight. */
  async hold(count: number, text: string, localAddress?: string): Promise<void> {
    const before = (await this.counts()).requests;
    for (let sent = 0; sent < count; sent++) (await this.connect(localAddress)).send(text);
    await expect.poll(async () => (await this.counts()).requests).toBe(before + count);
  }

  /** The sum of the values on metrics lines that begin with `start`. */
  async metric(start: string): Promise<number> {
    const lines = (await this.place.metricsText()).split('\n').filter((line) => line.startsWith(start));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  async counts(): Promise<Record<'connections' | 'requests' | 'bytes', number>> {
    return {
      connections: await this.metric('waxwing_http_connections '),
      requests: await this.metric('waxwing_http_requests_in_flight '),
      bytes: await this.metric('waxwing_http_body_bytes_in_flight '),
    };
  }

  async close(): Promise<void> {
    for (const { socket } of this.#connections.splice(0)) socket.destroy();
  }
}

/**
 * Provokes a limit. Expects that the response one step beyond the limit is the documented one, and that the metric
 * counts it. Expects that other clients are served meanwhile. Afterwards, no resources may be in use and all requests
 * must be served.
 */
export async function expectLimit<World>(limit: Limit<World>, world: World, door: Door): Promise<void> {
  const { metric, answer, spares = 'everybody' } = limit;
  const all = door.place.honest();
  const usual = await serve(all, all.length);
  const before = metric === undefined ? 0 : await door.metric(metric);
  try {
    const { status, body, retryAfter } = await limit.provoke(world, door);
    expect([status, body?.code, retryAfter]).toEqual([answer[0], answer[1], answer[2]]);
    if (metric !== undefined) await expect.poll(() => door.metric(metric)).toBeGreaterThan(before);
    const honest = door.place.honest().filter((one) => isSpared(one, spares));
    expectSoon(await serve(honest, requestsMeanwhile), usual);
  } finally {
    await door.close();
    await limit.end?.(world, door);
  }
  await expect.poll(() => door.counts()).toEqual({ connections: 0, requests: 0, bytes: 0 });
  const honest = door.place.honest();
  expectSoon(await serve(honest, honest.length), usual);
}

/** Expects low latency. Allows more if the machine was slow before the limit was reached. */
function expectSoon({ slowestMilliseconds, mostMilliseconds }: Service, usual: Service): void {
  const most = Math.max(mostMilliseconds, mostTimesAsLong * usual.slowestMilliseconds);
  expect(slowestMilliseconds).toBeLessThan(most);
}

function isSpared({ url, body }: Question, spares: NonNullable<Limit<unknown>['spares']>): boolean {
  if (spares === 'health') return url.includes('/health/');
  return spares === 'everybody' || body === undefined;
}

interface Service {
  /** Counts as the p99, because there are only a few requests. */
  readonly slowestMilliseconds: number;
  readonly mostMilliseconds: number;
}

/**
 * Sends a modest client's requests, all of which must succeed. Repeats the measurement up to three times if requests
 * are slow, because other programs use the machine too. The latency bound is multiplied by the factor by which other
 * programs slow this process down. Above a factor of two, latency is not checked.
 */
async function serve(questions: readonly Question[], count: number): Promise<Service> {
  for (let tries = 1; ; tries++) {
    const endOfMeasurement = measureSlowdown(process.pid);
    const slowestMilliseconds = await slowestOf(questions, count);
    const slowdown = endOfMeasurement();
    const mostMilliseconds = slowdown > mostSlowdown ? Number.POSITIVE_INFINITY : p99Milliseconds * slowdown;
    if (slowestMilliseconds < mostMilliseconds || tries === measurements) {
      return { slowestMilliseconds, mostMilliseconds };
    }
  }
}

async function slowestOf(questions: readonly Question[], count: number): Promise<number> {
  const milliseconds: number[] = [];
  for (let asked = 0; asked < count; asked++) {
    const question = questions[asked % questions.length] as Question;
    const startedAt = performance.now();
    const { status, body } = await ask(question);
    milliseconds.push(performance.now() - startedAt);
    expect([question.url, status, body?.code]).toEqual([question.url, 200, undefined]);
    await new Promise((resolve) => setTimeout(resolve, betweenMilliseconds));
  }
  return Math.max(...milliseconds);
}
