import { Writable } from 'node:stream';
import { createLogger, type Log } from '@waxwing/service/logging';

/** The real logger at level `trace`, writing to memory. `text()` returns the whole log. */
export function createMemoryLog(name = 'test'): {
  log: Log;
  text: () => string;
  lines: () => Record<string, unknown>[];
} {
  let written = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  return {
    log: createLogger(name, 'trace', destination),
    text: () => written,
    lines: () =>
      written
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}
