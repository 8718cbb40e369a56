import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { buildConnector, DiagnosticsChannel } from 'undici';

// https://undici.nodejs.org/#/docs/api/DiagnosticsChannel
const sendHeaders = 'undici:client:sendHeaders';

/** How a socket fails if the peer has closed it. A timeout, and closing the pool, prove nothing. */
const closedByPeer: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Recognizes connections that the peer closed while they were idle, and that were used again before that was known. Such a
 * connection ends before the first byte of an answer, and its request was not processed. HTTP/1.1 cannot prove that, so
 * this is what browsers do (https://www.rfc-editor.org/rfc/rfc9112#section-9.3.1, and `ShouldResendRequest` of Chromium).
 */
export class StaleConnections {
  /** Bytes of answers that each connection had received when its current request was sent. 0: the first request. */
  readonly #receivedBefore = new WeakMap<Socket, number>();
  readonly #errors = new WeakSet<object>();
  readonly #onHeaders = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage;
    if (this.#receivedBefore.has(socket)) this.#receivedBefore.set(socket, socket.bytesRead);
  };

  constructor() {
    subscribe(sendHeaders, this.#onHeaders);
  }

  /** Returns a connector for a pool of undici, whose connections are watched. */
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
    // The request fails with the same error.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!closedByPeer.has(error.code)) return;
      const received = this.#receivedBefore.get(socket) ?? 0;
      if (received > 0 && socket.bytesRead === received) this.#errors.add(error);
    });
  }
}
