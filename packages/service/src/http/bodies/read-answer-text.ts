/**
 * The body of an answer to a request of ours, as text; `undefined` when it is longer than `maximumBytes`. Then the rest is
 * not read, and its connection ends.
 */
export async function readAnswerText(
  body: AsyncIterable<Uint8Array>,
  maximumBytes: number,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (bytes > maximumBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
