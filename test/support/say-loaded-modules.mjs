import { writeSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Preloaded into a process. Prints each loaded module to standard error, one per line.
if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  writeSync(2, `loaded ${url}\n`);
  return next(url, context);
}
