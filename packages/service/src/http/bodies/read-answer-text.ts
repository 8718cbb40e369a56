/**
 * Reads the body of a peer's response as text. If the body exceeds `maximumBytes`, returns `undefined` and closes the
 * connection instead of reading the rest.
 */
export async function readAnswerText(
  body: AsyncIterable<Uint8Array>,
  maximumBytes: number,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (bytes > maximumBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
