import { setImmediate, setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Readiness } from './health/readiness.js';

/** Time for the first requests on the connections accepted last. */
const lingerMilliseconds = 1000;

/**
 * Lets proxies move to other processes before this one closes. For `milliseconds`, answers all requests as usual, but
 * reports that it is not ready, and closes each connection after its answer. Then stops listening. Does nothing if
 * `milliseconds` is 0 or `skipped` is aborted.
 */
export async function drain(
  app: FastifyInstance,
  readiness: Readiness,
  { milliseconds, skipped }: { readonly milliseconds: number; readonly skipped: AbortSignal },
): Promise<void> {
  if (milliseconds === 0 || skipped.aborted) return;
  readiness.beginDraining();
  await setTimeout(milliseconds);
  // First lets Node accept the pending connections: the operating system resets connections that are pending when a
  // listener closes.
  await setImmediate();
  app.server.close();
  await setTimeout(lingerMilliseconds);
}
