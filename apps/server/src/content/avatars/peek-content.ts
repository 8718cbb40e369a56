import { Readable } from 'node:stream';

interface Peeked {
  /** The first `length` bytes, or all bytes if the content is shorter. */
  readonly head: Buffer;
  /** The complete content, including the first bytes. The consumer must read it to the end or destroy it. */
  readonly whole: Readable;
}

/**
 * Reads the first `length` bytes of a stream, and returns them with a stream of the complete content. Buffers only the
 * chunks that contain these bytes.
 * @throws the error of the stream.
 */
export async function peekContent(content: Readable, length: number): Promise<Peeked> {
  const rest: AsyncIterator<Buffer> = content[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < length) {
    const { done, value } = await rest.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const whole = Readable.from(
    (async function* () {
      yield head;
      for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
    })(),
    { objectMode: false },
  );
  // Destroys the source explicitly: if `whole` is never read, the generator that would close the source never runs.
  whole.once('close', () => content.destroy());
  return { head, whole };
}
