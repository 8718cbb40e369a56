import { type DestinationStream, pino } from 'pino';

const flushMilliseconds = 100;
const bufferedCharacters = 8192;
const errorLevel = 50;

/** A destination that pino tells the level of each line before it writes it. */
interface LeveledDestination extends DestinationStream {
  readonly [needsMetadata]: true;
  lastLevel: number;
}

const needsMetadata: typeof pino.symbols.needsMetadataGsym = pino.symbols.needsMetadataGsym;

let output: LeveledDestination | undefined;

/**
 * Standard output, written when 8 Ki characters or 100 ms have come together, at every line of level `error` or above,
 * and when the process exits, an uncaught error included: a call of the operating system for each line costs more than
 * the line. What is killed by SIGKILL loses the last 100 ms. One for the process, whoever asks.
 */
export function bufferedOutput(): DestinationStream {
  output ??= openOutput();
  return output;
}

function openOutput(): LeveledDestination {
  const stream = pino.destination({ dest: 1, sync: true });
  // Gathered here, because the stream copies all that it holds to count its bytes, at each further line.
  let gathered = '';
  const flush = (): void => {
    if (gathered === '') return;
    const text = gathered;
    gathered = '';
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
      gathered += line;
      if (this.lastLevel >= errorLevel) flushAll();
      else if (gathered.length >= bufferedCharacters) flush();
    },
  };
}
