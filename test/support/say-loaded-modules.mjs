import { writeSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// A process that is started with this says on standard error which modules it loads, one on each line.
if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  writeSync(2, `loaded ${url}\n`);
  return next(url, context);
}
