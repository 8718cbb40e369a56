import type { Log } from '../../logging/create-logger.js';
import type { Metrics } from '../../metrics/metrics.js';
import type { RequestFacts } from './request-facts.js';

/**
 * Writes the log line and updates the metrics for a finished request, whether it was answered or the client
 * disconnected.
 */
export function recordRequest(
  { address, code, refused, operation, received, beganAt }: RequestFacts,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): void {
  const { actor, exchange, id: request } = received;
  const { response } = exchange;
  const name = operation?.name ?? 'none';
  if (!response.writableEnded) {
    metrics.httpAborted.inc();
    log.debug({ request, operation: name, actor, code }, 'the client disconnected before the answer');
    return;
  }
  const status = response.statusCode;
  const taken = performance.now() - beganAt;
  metrics.requestSeconds.observe({ operation: name, status }, taken / 1000);
  const milliseconds = Math.round(taken * 10) / 10;
  log.info({ request, operation: name, status, milliseconds, actor, code, refused, address });
}
