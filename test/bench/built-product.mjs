import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Benchmarks measure the built product, as operators run it: an import of a source file loads its build instead.
if (isMainThread) register(import.meta.url);
// A measured process ends when its benchmark ends, even if the benchmark is killed.
if (isMainThread && process.connected) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // The open channel alone must not keep the process alive.
  process.channel.unref();
}

const source = /\/(apps|packages)\/([^/]+)\/src\/(.+)\.[jt]s$/;

export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  return { ...resolved, url: resolved.url.replace(source, '/$1/$2/dist/$3.js') };
}
