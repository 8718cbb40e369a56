import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import type { LogLevel } from '../config/log-levels.js';
import { bufferedOutput } from './buffered-output.js';

export type Log = Logger;

/**
 * The process's logger: JSON lines on standard output, through {@link bufferedOutput} where no destination is named. Only
 * what a caller names is written; requests and bodies have no serialiser here on purpose, so that nothing can log one by
 * accident.
 */
export function createLogger(name: string, level: LogLevel, destination?: DestinationStream): Log {
  const options = {
    name,
    level,
    base: { name },
    timestamp: writtenTime(),
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError, req: () => undefined, res: () => undefined },
  };
  return pino(options, destination ?? bufferedOutput());
}

/** The time in each line; lines of the same millisecond share the text. */
function writtenTime(): () => string {
  let writtenAt: number | undefined;
  let text = '';
  return () => {
    const now = Date.now();
    if (now === writtenAt) return text;
    writtenAt = now;
    text = `,"time":"${new Date(now).toISOString()}"`;
    return text;
  };
}

function describeError(error: Error): object {
  const { type, message, stack } = stdSerializers.err(error);
  const { code } = error as NodeJS.ErrnoException;
  return { type, message, code, stack };
}
