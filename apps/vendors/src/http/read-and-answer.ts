import type { IncomingMessage, ServerResponse } from 'node:http';

/** Reads a request body and passes it to `done`. Passes `undefined` if the body is longer than `limitBytes`. */
export function readRequestBody(
  request: IncomingMessage,
  limitBytes: number,
  done: (body: Buffer | undefined) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= limitBytes) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.once('end', () => {
    if (bytes > limitBytes) done(undefined);
    else done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
  });
}

export function answerJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers?: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=UTF-8',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
