import type { OperationRequest } from '@waxwing/service/http';

/** Connection of a server that waits for the results of its request. */
export interface WaitingServer {
  /** @throws AbortError if the server has disconnected. */
  requireClient(): void;
  /** Waits for an event-loop tick. Never rejects: once some notifications have been sent, the rest must be sent too. */
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
