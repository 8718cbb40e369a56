import type { ServerResponse } from 'node:http';
import { laterDeliveriesTo } from '../vendor-deliveries.js';

/**
 * Streams Google's deliveries to a token as server-sent events, in place of a phone's connection to Google. Starts with
 * earlier deliveries; the phone drops deliveries that it has already seen.
 */
export async function streamPushes(
  response: ServerResponse,
  token: string,
  vendorsUrl: string,
): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  for await (const { body } of laterDeliveriesTo(token, vendorsUrl, { seen: 0, signal: closed.signal })) {
    response.write(`data: ${JSON.stringify(body.message)}\n\n`);
  }
}
