import type { OperationRequest } from '@waxwing/service/http';

/** The connection of the server that waits for the results of a request. */
export interface WaitingServer {
  /** @throws AbortError if the server has disconnected. */
  requireClient(): void;
  /** Waits for an event-loop tick. Never rejects: once some notifications are sent, the rest must also be sent. */
  nextTick(): Promise<void>;
}

export function waitingServer(
  request: Pick<OperationRequest<unknown, unknown>, 'requireClient' | 'nextTick'>,
): WaitingServer {
  return {
    requireClient: () => request.requireClient(),
    nextTick: () => request.nextTick({ isRefusable: false }).catch(() => undefined),
  };
}
