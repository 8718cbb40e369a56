import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { buildConnector, DiagnosticsChannel } from 'undici';

// https://undici.nodejs.org/#/docs/api/DiagnosticsChannel
const sendHeaders = 'undici:client:sendHeaders';

/** Error codes that prove that the peer closed the socket. Other errors, such as a timeout, do not. */
const closedByPeer: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Detects stale connections, which the peer closed while they were idle and the relay reused before it noticed. A stale
 * connection ends before the first byte of a response, so its request was most likely not processed. HTTP/1.1 offers no
 * proof of that, but browsers use the same rule (https://www.rfc-editor.org/rfc/rfc9112#section-9.3.1, and
 * `ShouldResendRequest` in Chromium).
 */
export class StaleConnections {
  /** Bytes that each connection had received when its current request was sent; 0 for the first request. */
  readonly #receivedBefore = new WeakMap<Socket, number>();
  readonly #errors = new WeakSet<object>();
  readonly #onHeaders = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage;
    if (this.#receivedBefore.has(socket)) this.#receivedBefore.set(socket, socket.bytesRead);
  };

  constructor() {
    subscribe(sendHeaders, this.#onHeaders);
  }

  /** Returns a connector for an undici pool that observes the pool's connections. */
  watching(connect: buildConnector.connector): buildConnector.connector {
    return (target, connected) =>
      connect(target, (...result) => {
        const [, socket] = result;
        if (socket) this.#watch(socket);
        connected(...result);
      });
  }

  /** Whether a request failed because its connection was stale. */
  caused(error: unknown): boolean {
    return this.#errors.has(error as object);
  }

  close(): void {
    unsubscribe(sendHeaders, this.#onHeaders);
  }

  #watch(socket: Socket): void {
    this.#receivedBefore.set(socket, 0);
    // Only record the error: the request itself fails with the same error.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!closedByPeer.has(error.code)) return;
      const received = this.#receivedBefore.get(socket) ?? 0;
      if (received > 0 && socket.bytesRead === received) this.#errors.add(error);
    });
  }
}
