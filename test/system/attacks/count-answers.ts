const endOfHead = '\r\n\r\n';
/** Ends a body in chunks. The text of JSON has no line breaks of this kind. */
const endOfChunks = '\r\n0\r\n\r\n';
const statusAt = 'HTTP/1.1 '.length;

/**
 * Tells the answers in what a connection receives, whole or in pieces, in their order and at little cost: each by its
 * status, and by status and code where it was refused with a code, such as `400 BAD_REQUEST`, once its body is there.
 * Returns how many there were in a piece.
 */
export function answerReader(tell: (answer: string) => void): (chunk: Buffer) => number {
  let text = '';
  /** The status of an answer whose chunks are being received; they may be many megabytes, and are not kept. */
  let chunked: string | undefined;
  const readOne = (): boolean => {
    if (chunked !== undefined) {
      const end = text.indexOf(endOfChunks);
      text = end < 0 ? text.slice(1 - endOfChunks.length) : text.slice(end + endOfChunks.length);
      if (end < 0) return false;
      tell(chunked);
      chunked = undefined;
      return true;
    }
    const bodyAt = text.indexOf(endOfHead) + endOfHead.length;
    if (bodyAt < endOfHead.length) return false;
    const head = text.slice(0, bodyAt);
    const status = head.slice(statusAt, statusAt + 3);
    if (/\ntransfer-encoding: chunked/i.test(head)) {
      chunked = status;
      // With the end of the head's last line, which an empty body ends at once.
      text = text.slice(bodyAt - 2);
      return readOne();
    }
    const end = bodyAt + Number(/\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (text.length < end) return false;
    const code = status < '400' ? undefined : /"code":"(\w+)"/.exec(text.slice(bodyAt, end))?.[1];
    tell(code === undefined ? status : `${status} ${code}`);
    text = text.slice(end);
    return true;
  };
  return (chunk) => {
    text += chunk.toString('latin1');
    let count = 0;
    while (readOne()) count += 1;
    return count;
  };
}

/** Returns a function that counts each name in `counts`, an object that can be sent to another process. */
export function countInto(counts: Record<string, number>): (name: string) => void {
  return (name) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
}
