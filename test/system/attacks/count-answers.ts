const startOfAnswer = /HTTP\/1\.1 (\d{3}) /g;
/** Shorter than what the pattern matches, so that no answer is counted twice. */
const longestPart = 'HTTP/1.1 200'.length;

/** Counts answers by status in what a connection receives, whole or in pieces, at little cost. */
export function answerCounter(statuses: Record<string, number>): (chunk: Buffer) => number {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    let answers = 0;
    for (const [, status = ''] of text.matchAll(startOfAnswer)) {
      statuses[status] = (statuses[status] ?? 0) + 1;
      answers += 1;
    }
    rest = text.slice(-longestPart);
    return answers;
  };
}
