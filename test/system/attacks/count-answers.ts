const endOfHead = '\r\n\r\n';
const statusAt = 'HTTP/1.1 '.length;

/**
 * Tells the answers in what a connection receives, whole or in pieces, in their order and at little cost: each by its
 * status, and by status and code where it was refused with a code, such as `400 BAD_REQUEST`, once its body is there.
 * Returns how many there were in a piece.
 */
export function answerReader(tell: (answer: string) => void): (chunk: Buffer) => number {
  let text = '';
  return (chunk) => {
    text += chunk.toString('latin1');
    for (let count = 0; ; count++) {
      const bodyAt = text.indexOf(endOfHead) + endOfHead.length;
      if (bodyAt < endOfHead.length) return count;
      const head = text.slice(0, bodyAt);
      const end = bodyAt + Number(/\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (text.length < end) return count;
      const status = head.slice(statusAt, statusAt + 3);
      const code = status < '400' ? undefined : /"code":"(\w+)"/.exec(text.slice(bodyAt, end))?.[1];
      tell(code === undefined ? status : `${status} ${code}`);
      text = text.slice(end);
    }
  };
}

/** Returns a function that counts each name in `counts`, an object that can be sent to another process. */
export function countInto(counts: Record<string, number>): (name: string) => void {
  return (name) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
}
