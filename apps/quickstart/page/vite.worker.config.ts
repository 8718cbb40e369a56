import { defineConfig } from 'vite';

/** Bundles the service worker into one file in the same folder as the page's files. */
export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  resolve: { conditions: ['@waxwing/source', 'browser'] },
  build: {
    outDir: '../dist/browser',
    emptyOutDir: false,
    copyPublicDir: false,
    modulePreload: false,
    rolldownOptions: {
      input: new URL('worker.ts', import.meta.url).pathname,
      output: { entryFileNames: 'worker.js', codeSplitting: false },
    },
  },
});
