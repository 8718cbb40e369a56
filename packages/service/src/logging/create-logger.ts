import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import type { LogLevel } from '../config/log-levels.js';
import { bufferedOutput } from './buffered-output.js';

export type Log = Logger;

/**
 * Creates a logger that writes JSON lines, by default to {@link bufferedOutput}. Deliberately has no serializers for
 * requests and responses, so that their content cannot be logged by accident.
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

/**
 * Returns a function that formats the current time. The text is cached, because many lines fall into the same
 * millisecond.
 */
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
