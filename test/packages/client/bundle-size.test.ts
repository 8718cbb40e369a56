import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { expect, it } from 'vitest';

/** Maximum size of the client in an app, without libsodium, which any encryption needs. */
const mostKilobytes = 90;

/** Bundles a module with vite for browsers. Returns the gzipped size in kB (1000 bytes). */
async function gzippedKilobytes(entry: string, external: string[] = []): Promise<number> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    root: import.meta.dirname,
    resolve: { conditions: ['@waxwing/source', 'browser'] },
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: { input: entry, external, preserveEntrySignatures: 'strict' },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('vite built nothing.');
  const [chunk, ...others] = output.output;
  expect(others).toEqual([]);
  return gzipSync(chunk.code, { level: 9 }).length / 1000;
}

const entryOf = (name: string) => import.meta.resolve(name).replace('file://', '');

const pageOf = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../..', name), 'utf8').replace(/\s+/g, ' ');

/** Expects a page to state these sizes within 1 kB, in the order of the pattern's groups. */
function expectStated(pattern: RegExp, kilobytes: readonly number[], page = pageOf('docs/client.md')): void {
  const stated = (pattern.exec(page) ?? []).slice(1).map(Number);
  const wrong = kilobytes.filter((measured, index) => !(Math.abs(measured - Number(stated[index])) < 1));
  expect(wrong, `the page states ${stated.join(' and ')}`).toEqual([]);
}

it(`the client adds at most ${mostKilobytes} kB besides libsodium to a browser's bundle, as the page states`, async () => {
  const client = await gzippedKilobytes(entryOf('@waxwing/client'), ['libsodium-wrappers']);
  const libsodium = await gzippedKilobytes(entryOf('libsodium-wrappers'));
  console.log(
    `client ${client.toFixed(1)} kB gzipped, all of it; libsodium ${libsodium.toFixed(1)} kB beside it`,
  );
  expect(client).toBeLessThanOrEqual(mostKilobytes);
  expectStated(/bundle grows by (\d+) kB plus libsodium's (\d+) kB/, [client, libsodium]);
  const opener = await gzippedKilobytes(entryOf('@waxwing/client/open'));
  const readme = pageOf('packages/client/README.md');
  expectStated(/is (\d+) kB instead of (\d+) kB/, [opener, client + libsodium], readme);
});

it('the service worker module adds the size that the page states, and no libsodium', async () => {
  const worker = await gzippedKilobytes(entryOf('@waxwing/client/service-worker'));
  const opener = await gzippedKilobytes(entryOf('@waxwing/client/open'));
  console.log(`service worker ${worker.toFixed(1)} kB gzipped; opening alone ${opener.toFixed(1)} kB`);
  expectStated(/service worker grows by (\d+) kB, and `@waxwing\/client\/open` alone is (\d+) kB/, [
    worker,
    opener,
  ]);
});
