const endOfHead = '\r\n\r\n';
/** End of a chunked body. JSON text contains no such line breaks. */
const endOfChunks = '\r\n0\r\n\r\n';
const statusAt = 'HTTP/1.1 '.length;

/**
 * Cheaply detects the responses in received data, in order. Data may arrive in chunks of any size. Calls `tell` with
 * the status of each response, or with the status and code of a refusal, such as `400 BAD_REQUEST`, once its body has
 * arrived. The returned reader returns the number of responses found in each chunk.
 */
export function answerReader(tell: (answer: string) => void): (chunk: Buffer) => number {
  let text = '';
  /**
   * Status of the response whose chunked body is being received. The body can be many megabytes long and is not kept.
   */
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
      // Keeps the line break at the end of the head, because an empty body ends there.
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

/** Returns a function that counts names in `counts`, a plain object that can be sent to another process. */
export function countInto(counts: Record<string, number>): (name: string) => void {
  return (name) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
}
