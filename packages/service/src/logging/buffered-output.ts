import { type DestinationStream, pino } from 'pino';

const flushMilliseconds = 100;
const bufferedCharacters = 8192;
const errorLevel = 50;

/** A log destination. Before each line, pino sets its `lastLevel`. */
interface LeveledDestination extends DestinationStream {
  readonly [needsMetadata]: true;
  lastLevel: number;
}

const needsMetadata: typeof pino.symbols.needsMetadataGsym = pino.symbols.needsMetadataGsym;

let output: LeveledDestination | undefined;

/**
 * Returns standard output with a process-wide buffer, because a system call per line would cost more than formatting
 * the line. Flushes at 8 Ki characters, after 100 ms, after a line of level `error` or higher, and at exit, even after
 * an uncaught error. SIGKILL loses the last 100 ms.
 */
export function bufferedOutput(): DestinationStream {
  output ??= openOutput();
  return output;
}

function openOutput(): LeveledDestination {
  const stream = pino.destination({ dest: 1, sync: true });
  // Buffered here: the stream would copy its whole buffer for each line to count bytes.
  let buffered = '';
  const flush = (): void => {
    if (buffered === '') return;
    const text = buffered;
    buffered = '';
    stream.write(text);
  };
  const flushAll = (): void => {
    flush();
    stream.flushSync();
  };
  setInterval(flush, flushMilliseconds).unref();
  process.on('exit', flushAll);
  return {
    [needsMetadata]: true,
    lastLevel: 0,
    write(line) {
      buffered += line;
      if (this.lastLevel >= errorLevel) flushAll();
      else if (buffered.length >= bufferedCharacters) flush();
    },
  };
}
