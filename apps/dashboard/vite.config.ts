import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Bundles the page. The relay serves it under `/admin/`, and lets browsers keep the files in `assets`. */
export default defineConfig({
  root: join(import.meta.dirname, 'src/page'),
  base: '/admin/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(import.meta.dirname, 'dist/page'),
    emptyOutDir: true,
    // An inlined file would be a data: URL, which the page's policy does not load.
    assetsInlineLimit: 0,
    modulePreload: false,
    sourcemap: false,
  },
});
