import type { Dispatcher } from 'undici';
import { maximumAnswerCharacters } from '../vendor-answer.js';

/** So much is read, and dropped, to keep the connection; beyond that it is given up. */
const maximumReadBytes = 128 * 1024;

/** What Google answered, which is ASCII; nothing at all when it is longer than Google's answers are. */
export async function readBody(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maximumAnswerCharacters) chunks.push(chunk);
    // Leaving the loop destroys the stream, and with it the connection.
    if (bytes > maximumReadBytes) break;
  }
  return bytes > maximumAnswerCharacters ? '' : Buffer.concat(chunks).toString('utf8');
}
