import { defineConfig } from 'vite';

/** Bundles the page from the sources into a few files that a web server can serve under any path. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  resolve: { conditions: ['@waxwing/source', 'browser'] },
  build: {
    outDir: '../dist/browser',
    emptyOutDir: true,
    assetsDir: '',
    assetsInlineLimit: 0,
    modulePreload: false,
    // Prevents a warning in `npm start`: libsodium's WebAssembly is half a megabyte.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: { entryFileNames: 'page.js', assetFileNames: '[name][extname]', codeSplitting: false },
    },
  },
});
