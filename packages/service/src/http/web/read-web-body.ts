import { ProtocolError } from '@waxwing/protocol';
import { parseBody, type ReceivedBody } from '../bodies/parse-body.js';

/**
 * Reads and parses a request's body.
 * @throws ProtocolError PAYLOAD_TOO_LARGE as soon as the body exceeds `limitBytes`
 */
export async function readWebBody(request: Request, limitBytes: number): Promise<ReceivedBody> {
  const { body, headers } = request;
  if (body === null) return { kind: 'none' };
  if (Number(headers.get('content-length')) > limitBytes) throw new ProtocolError('PAYLOAD_TOO_LARGE');
  const bytes = await readBytes(body, limitBytes);
  const contentType = headers.get('content-type') ?? undefined;
  if (bytes.length === 0 && contentType === undefined) return { kind: 'none' };
  const contentEncoding = headers.get('content-encoding') ?? undefined;
  return parseBody({ 'content-type': contentType, 'content-encoding': contentEncoding }, bytes);
}

async function readBytes(body: ReadableStream<Uint8Array>, limitBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > limitBytes) throw new ProtocolError('PAYLOAD_TOO_LARGE');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
