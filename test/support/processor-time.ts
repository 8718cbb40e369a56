const maxRuns = 8;

/**
 * CPU time of the fastest of several runs, in milliseconds. Excludes other processes. Stops as soon as a run takes
 * `enough` or less. Takes the fastest run, because others may include compilation or garbage collection.
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

/** Milliseconds that {@link tidyWords} takes on the reference machine. */
const usualMilliseconds = 10;

/** Factor by which this machine is currently slower than the reference machine. At least 1. */
export function slownessOfMachine(): number {
  return Math.max(1, processorMilliseconds(tidyWords) / usualMilliseconds);
}

/** Splits, searches and joins strings as rendering does, but without product code. */
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
