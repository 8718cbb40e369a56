import { Readable } from 'node:stream';

interface Peeked {
  /** The first bytes; fewer where there are no more. */
  readonly head: Buffer;
  /** All of it, the first bytes too. Whoever has it reads it to its end, or destroys it. */
  readonly whole: Readable;
}

/**
 * The first bytes of content, and all of it, without holding more of it than has come. @throws whatever the content fails
 * with
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
  // Also where nobody has begun to read it.
  whole.once('close', () => content.destroy());
  return { head, whole };
}
