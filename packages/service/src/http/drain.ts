import { setImmediate, setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Readiness } from './health/readiness.js';

/** Time for the first requests to arrive on the most recently accepted connections. */
const lingerMilliseconds = 1000;
const maximumAcceptMilliseconds = 1000;
const shortTickMilliseconds = 1;

/**
 * Gives proxies time to switch to other processes before this one closes. For `milliseconds`, the app serves all
 * requests as usual, but reports that it is not ready and closes each connection after its response. Then it stops
 * listening. Does nothing if `milliseconds` is 0 or `skipped` is aborted.
 */
export async function drain(
  app: FastifyInstance,
  readiness: Readiness,
  { milliseconds, skipped }: { readonly milliseconds: number; readonly skipped: AbortSignal },
): Promise<void> {
  if (milliseconds === 0 || skipped.aborted) return;
  readiness.beginDraining();
  await setTimeout(milliseconds);
  await acceptPending(app);
  app.server.close();
  await setTimeout(lingerMilliseconds);
}

/**
 * Lets Node accept pending connections. When a listener closes, the operating system resets those that are still
 * pending. Node accepts one connection per event-loop tick. Resolves at the end of a short tick without a new
 * connection, or after one second at the latest. The caller can then close the listener before the next connection
 * arrives.
 */
async function acceptPending({ server }: FastifyInstance): Promise<void> {
  let accepted = 0;
  const count = (): void => void accepted++;
  server.on('connection', count);
  const latest = performance.now() + maximumAcceptMilliseconds;
  for (let isQuiet = false; !isQuiet && performance.now() < latest; ) {
    const [before, begun] = [accepted, performance.now()];
    await setImmediate();
    isQuiet = accepted === before && performance.now() - begun < shortTickMilliseconds;
  }
  server.off('connection', count);
}
