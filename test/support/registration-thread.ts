import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'waxwing-registration-thread-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
// The bundle excludes npm packages, which are resolved from the bundle's own folder.
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
const entry = 'registration-thread';
await build({
  root,
  configFile: false,
  logLevel: 'error',
  ssr: { noExternal: [/^@waxwing\//], resolve: { conditions: ['@waxwing/source'] } },
  build: {
    ssr: join(root, 'apps/relay/src/registration-thread', `${entry}.ts`),
    outDir: folder,
    emptyOutDir: false,
    target: 'node20',
    rolldownOptions: { output: { entryFileNames: `${entry}.mjs` } },
  },
});

/**
 * URL of the registration worker thread, bundled from the current sources because Node does not run TypeScript in
 * threads.
 */
export const registrationThread = pathToFileURL(join(folder, `${entry}.mjs`));
