const maxRuns = 8;

/**
 * The processor time of the fastest of some runs, in milliseconds; other processes on the machine do not count. What is slow
 * in the first run, because it is compiled then or memory is tidied up, is measured again until it takes `enough` or less.
 */
export function processorMilliseconds(run: () => unknown, enough = 0): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let count = 0; count < maxRuns && fastest > enough; count++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    fastest = Math.min(fastest, (user + system) / 1_000);
  }
  return fastest;
}

/** What {@link tidyWords} takes on the machine whose limits the tests state. */
const usualMilliseconds = 10;

/**
 * How many times as long as on the machine whose limits the tests state this one takes now for the same work; 1 at least.
 */
export function slownessOfMachine(): number {
  return Math.max(1, processorMilliseconds(tidyWords) / usualMilliseconds);
}

/** Texts cut up, looked through and put together, as in rendering, with nothing of the product. */
function tidyWords(): number {
  const text = 'Words *with* `marks`, https://example.com/a?b=c and #12 between them. '.repeat(400);
  let length = 0;
  for (let count = 0; count < 8; count++) {
    const words = text
      .split(' ')
      .map((word, index) => ({ index, word: word.replace(/[*`#](\w+)/g, '<b>$1</b>') }));
    words.sort((left, right) =>
      left.word < right.word ? -1 : left.word > right.word ? 1 : left.index - right.index,
    );
    length += JSON.stringify(words).length;
  }
  return length;
}
