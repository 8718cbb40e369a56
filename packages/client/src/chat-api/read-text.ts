import { UnreachableError } from './api-error.js';

/**
 * Reads a response body as text. If the platform supports streams, stops reading at the limit.
 *
 * @throws UnreachableError if the body exceeds `maximumBytes`.
 */
export async function readText(response: Response, maximumBytes: number): Promise<string> {
  const announcedBytes = Number(response.headers.get('content-length') ?? 0);
  if (announcedBytes > maximumBytes) throw tooLong(maximumBytes);
  // React Native has no body streams: it has already read the whole body.
  if (!response.body) return requireShort(await response.text(), maximumBytes);
  return readStream(response.body, maximumBytes);
}

async function readStream(body: ReadableStream<Uint8Array>, maximumBytes: number): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maximumBytes) {
      await reader.cancel();
      throw tooLong(maximumBytes);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function requireShort(text: string, maximumBytes: number): string {
  if (text.length > maximumBytes) throw tooLong(maximumBytes);
  return text;
}

function tooLong(maximumBytes: number): UnreachableError {
  return new UnreachableError(`The server's response is longer than ${maximumBytes} bytes and was not read.`);
}
