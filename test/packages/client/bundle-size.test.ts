import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { expect, it } from 'vitest';

/** Maximum size of the client in an app, without libsodium, which any encryption would need. */
const mostKilobytes = 90;

/** Gzipped size in kB (1000 bytes) of vite's browser bundle of a module. */
async function gzippedKilobytes(entry: string, external: string[] = []): Promise<number> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    root: import.meta.dirname,
    resolve: { conditions: ['source', 'browser'] },
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: { input: entry, external, preserveEntrySignatures: 'strict' },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('vite has built nothing.');
  const [chunk, ...others] = output.output;
  expect(others).toEqual([]);
  return gzipSync(chunk.code, { level: 9 }).length / 1000;
}

it(`adds at most ${mostKilobytes} kB to a browser's bundle, gzipped and beside libsodium`, async () => {
  const entryOf = (name: string) => import.meta.resolve(name).replace('file://', '');
  const client = await gzippedKilobytes(entryOf('@waxwing/client'), ['libsodium-wrappers']);
  const libsodium = await gzippedKilobytes(entryOf('libsodium-wrappers'));
  console.log(
    `client ${client.toFixed(1)} kB gzipped, all of it; libsodium ${libsodium.toFixed(1)} kB beside it`,
  );
  expect(client).toBeGreaterThan(1);
  expect(client).toBeLessThanOrEqual(mostKilobytes);
});
