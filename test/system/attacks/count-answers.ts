const endOfHead = '\r\n\r\n';
const statusAt = 'HTTP/1.1 '.length;

/**
 * Counts the answers in what a connection receives, whole or in pieces, at little cost: by status, and by status and code
 * where one was refused with a code, such as `400 BAD_REQUEST`. An answer counts once its body is there.
 */
export function answerCounter(answers: Record<string, number>): (chunk: Buffer) => number {
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
      const answer = code === undefined ? status : `${status} ${code}`;
      answers[answer] = (answers[answer] ?? 0) + 1;
      text = text.slice(end);
    }
  };
}
