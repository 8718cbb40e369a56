import { request } from '../../packages/service/http/listening-app.js';
import type { Door } from './limit.js';

/** One of many requests that are sent concurrently. */
export interface CrowdRequest {
  readonly path: string;
  /** Header lines, each with its line break. */
  readonly headers: string;
}

const connections = 5;
const eachConnection = 50;

/**
 * Sends many requests, several at a time, and waits for all responses. @throws Error if a response has a status other
 * than `status`.
 */
export async function askInCrowd(
  door: Door,
  requests: readonly CrowdRequest[],
  status: number,
): Promise<void> {
  const atOnce = connections * eachConnection;
  for (let from = 0; from < requests.length; from += atOnce) {
    const some = requests.slice(from, from + atOnce);
    const parts = Array.from({ length: connections }, (_, index) =>
      some.slice(index * eachConnection, (index + 1) * eachConnection),
    );
    await Promise.all(parts.map((part) => askOnOne(door, part, status)));
  }
}

async function askOnOne(door: Door, requests: readonly CrowdRequest[], status: number): Promise<void> {
  if (requests.length === 0) return;
  const texts = requests.map(({ path, headers }, index) =>
    request(`GET ${path}`, index < requests.length - 1 ? headers : `${headers}connection: close\r\n`),
  );
  const connection = (await door.connect()).send(texts.join(''));
  await connection.closed;
  const right = connection.statuses.filter((each) => each === status).length;
  if (right < requests.length)
    throw new Error(`only ${right} of ${requests.length} requests got status ${status}`);
}
