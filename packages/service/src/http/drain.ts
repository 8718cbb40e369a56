import { setImmediate, setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Readiness } from './health/readiness.js';

/** Time for the first requests of the connections that were accepted last. */
const lingerMilliseconds = 1000;

/**
 * Lets proxies move to other processes before this one closes. For `milliseconds` it answers all requests as usual, but is
 * not ready, and closes each connection after its response. Then it stops listening. 0 does nothing, as does an aborted
 * `skipped`.
 */
export async function drain(
  app: FastifyInstance,
  readiness: Readiness,
  { milliseconds, skipped }: { readonly milliseconds: number; readonly skipped: AbortSignal },
): Promise<void> {
  if (milliseconds === 0 || skipped.aborted) return;
  readiness.beginDraining();
  await setTimeout(milliseconds);
  // Lets Node accept the pending connections first: the system resets those that are pending when a listener closes.
  await setImmediate();
  app.server.close();
  await setTimeout(lingerMilliseconds);
}
