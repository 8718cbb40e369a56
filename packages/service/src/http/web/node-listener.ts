import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { ProtocolError, refused } from '@waxwing/protocol';
import type { Log } from '../../logging/create-logger.js';
import { refuseUnrouted } from '../error-answer.js';
import type { WebClient, WebHandler } from './web-handler.js';

/** A `node:http` listener that can also be used as middleware in Express and Connect. */
export type NodeListener = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Serves a {@link WebHandler} in a `node:http` server. For a path that the handler does not serve, calls `next` if
 * given, and otherwise responds with 404. Mount it before middleware that reads bodies.
 * @param clientOf returns the client of a request, if the host knows it
 */
export function toNodeListener(
  handler: WebHandler,
  log: Pick<Log, 'error'>,
  clientOf?: (request: IncomingMessage) => WebClient,
): NodeListener {
  return (request, response, next) => {
    serve(handler, { request, response, next, client: clientOf?.(request) }).catch((err) => {
      // Serving fails if the client has disconnected, or if the host has already read the body.
      if (!response.destroyed) log.error({ err }, 'a request could not be answered');
      if (response.headersSent) response.destroy();
      else refuseUnrouted(response, new ProtocolError('INTERNAL_SERVER_ERROR', { cause: err }));
    });
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly next: ((error?: unknown) => void) | undefined;
  readonly client: WebClient | undefined;
}

async function serve(handler: WebHandler, { request, response, next, client }: Exchange): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const asked = toWebRequest(request, gone.signal);
  const answer = asked === undefined ? undefined : await handler(asked, client);
  if (answer !== undefined) return send(answer, response);
  if (next !== undefined) next();
  else if (asked === undefined) refuseUnrouted(response, refused('Invalid path or method'));
  else refuseUnrouted(response, new ProtocolError('NOT_FOUND'));
}

/** Returns `undefined` for a request that the Fetch API cannot represent, for example one with TRACE or an invalid path. */
function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', rawHeaders } = request;
  const url = `http://localhost${escapeBytes(request.url ?? '/')}`;
  if (!request.url?.startsWith('/') || !URL.canParse(url) || isForbidden(method)) return undefined;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    // Skips the pseudo-headers of HTTP/2, such as `:method` and `:path`.
    if (!name.startsWith(':')) headers.append(name, rawHeaders[index + 1] ?? '');
  }
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal });
  return new Request(url, { method, headers, signal, body: bodyOf(request), duplex: 'half' });
}

/** Escapes the non-ASCII bytes in a URL. Node returns each byte as one character, so the URL parser would misread UTF-8. */
function escapeBytes(url: string): string {
  return url.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
}

/** Whether the Fetch API forbids a method. */
function isForbidden(method: string): boolean {
  return /^(?:CONNECT|TRACE|TRACK)$/i.test(method);
}

/**
 * Returns the body as a stream that is read on demand. Canceling the stream discards the rest, as Node does with unread
 * bodies.
 */
function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  let chunks: AsyncIterableIterator<Uint8Array> | undefined;
  const source = {
    async pull(controller: { enqueue(chunk: Uint8Array): void; close(): void }) {
      if (chunks === undefined && request.readableDidRead) throw new Error(bodyWasRead);
      chunks ??= request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>;
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks?.return?.();
      request.resume();
    },
  };
  // With a higher high-water mark, the stream would start reading before the request is authenticated.
  return new ReadableStream(source, { highWaterMark: 0 });
}

const bodyWasRead =
  'The body was read before the push operations could read it: mount them before body parsers such as express.json().';

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) return void response.end();
  await pipeline(Readable.fromWeb(answer.body as WebStream), response);
}
