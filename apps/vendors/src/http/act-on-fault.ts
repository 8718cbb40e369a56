import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerFault } from '../faults/fault-rule.js';
import type { Verdict } from '../faults/faults.js';
import type { RequestCounts } from '../statistics.js';

/** A valid request to an HTTP/1.1 endpoint, and the endpoint's callbacks. */
export interface FaultableExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly counts: RequestCounts;
  readonly verdict: Verdict;
  /** Processes the request, but sends no response. */
  process(): void;
  answerSuccess(): void;
  answerFault(fault: AnswerFault): void;
  /** Resets the connection. Default: resets the request's socket, which is enough without TLS. */
  reset?(): void;
}

/**
 * Handles a request according to the scripted faults: processes or drops the request, then accepts or refuses it,
 * resets the connection, or stays silent.
 */
export function actOnFault(exchange: FaultableExchange): void {
  const { request, response, counts, verdict } = exchange;
  const { effect, latencyMilliseconds } = verdict;
  if (effect?.kind === 'silence') {
    counts.countAnswer('no answer');
    return;
  }
  const isProcessed = effect === undefined || (effect.kind === 'reset' && effect.when === 'after');
  if (isProcessed) exchange.process();
  const finish = () => {
    if (response.destroyed) return;
    if (effect === undefined) {
      exchange.answerSuccess();
    } else if (effect.kind === 'answer') {
      exchange.answerFault(effect);
    } else {
      counts.countAnswer(`reset ${effect.when}`);
      if (exchange.reset) exchange.reset();
      else request.socket.resetAndDestroy();
    }
  };
  if (latencyMilliseconds === 0) finish();
  else setTimeout(finish, latencyMilliseconds).unref();
}
