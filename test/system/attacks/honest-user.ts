import { request } from 'node:http';
import { shareOf } from '../../support/share-of.js';

/** A request from an honest client. */
export interface HonestRequest {
  readonly name: string;
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Results of several requests. */
export interface Experience {
  readonly requests: number;
  /** Number of failures, by request and response. */
  readonly failures: Readonly<Record<string, number>>;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
}

const intervalMilliseconds = 15;
const patienceMilliseconds = 20_000;

/**
 * Sends `count` requests and measures their latency. Cycles through the kinds, at about sixty requests per second
 * regardless of latency. Each request uses a new connection, because the target must serve new clients too.
 */
export async function experience(kinds: readonly HonestRequest[], count: number): Promise<Experience> {
  const failures: Record<string, number> = {};
  const milliseconds: number[] = [];
  const underWay: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let made = 0; made < count; made++) {
    const kind = kinds[made % kinds.length] as HonestRequest;
    underWay.push(
      ask(kind).then(
        (taken) => void milliseconds.push(taken),
        (error: Error) => {
          const what = `${kind.name}: ${error.message}`;
          failures[what] = (failures[what] ?? 0) + 1;
          milliseconds.push(patienceMilliseconds);
        },
      ),
    );
    const dueIn = startedAt + (made + 1) * intervalMilliseconds - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueIn)));
  }
  await Promise.all(underWay);
  const share = (part: number): number => Math.round(shareOf(milliseconds, part));
  return { requests: count, failures, p50Milliseconds: share(0.5), p99Milliseconds: share(0.99) };
}

/**
 * Sends a request. Resolves to the milliseconds until the whole response has arrived. @throws Error unless the request
 * succeeds.
 */
function ask({ url, method, headers = {}, body = '' }: HonestRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const length = method === 'POST' ? { 'content-length': Buffer.byteLength(body) } : {};
    const asked = request(url, { method, agent: false, headers: { ...headers, ...length } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt);
        else reject(new Error(`${response.statusCode} ${text.slice(0, 200)}`));
      });
    });
    asked.setTimeout(patienceMilliseconds, () => asked.destroy(new Error('no answer')));
    asked.on('error', reject).end(body);
  });
}
