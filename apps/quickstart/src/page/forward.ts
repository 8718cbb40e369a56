import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** Allowlist of the requests that a phone sends to its server. */
const phoneRequests: ReadonlySet<string> = new Set([
  'POST /api/v1/register_client_device',
  'POST /api/v1/remove_client_device',
  'POST /api/v1/mobile_push/register',
  'GET /api/v1/mobile_push/bouncer_keys',
  'POST /api/v1/register',
  'GET /api/v1/events',
  'DELETE /api/v1/events',
]);

/**
 * Proxies a request from the page's phone to the chat server, unchanged in both directions. The page cannot call the
 * server directly, because the server has a different origin and does not allow requests from web pages.
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  {
    serverUrl,
    path,
    query,
  }: { readonly serverUrl: string; readonly path: string; readonly query: URLSearchParams },
): Promise<boolean> {
  const method = request.method ?? '';
  if (!phoneRequests.has(`${method} ${path}`)) return false;
  const given = new AbortController();
  response.once('close', () => given.abort());
  const { authorization, 'content-type': contentType } = request.headers;
  const body = method === 'POST' || method === 'DELETE' ? await text(request) : undefined;
  const answer = await fetch(`${serverUrl}${path}?${query}`, {
    method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    ...(body === undefined || body === '' ? {} : { body }),
    signal: given.signal,
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const date = answer.headers.get('date');
  response
    .writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
      ...(date === null ? {} : { date }),
    })
    .end(bytes);
  return true;
}
