import { join } from 'node:path';
import { defineConfig } from 'vite';

// Each program has its own page. WAXWING_PAGE is `page` for the relay (the default) and `server-page` for the server.
const page = process.env.WAXWING_PAGE ?? 'page';

/** Bundles a page. Its program serves the page under `/admin/`, and lets browsers cache the files in `assets`. */
export default defineConfig({
  root: join(import.meta.dirname, 'src', page),
  base: '/admin/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(import.meta.dirname, 'dist', page),
    emptyOutDir: true,
    // An inlined file would be a data: URL, which the page's Content-Security-Policy blocks.
    assetsInlineLimit: 0,
    modulePreload: false,
    sourcemap: false,
  },
});
