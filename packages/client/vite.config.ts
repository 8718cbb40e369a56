import { join } from 'node:path';
import { defineConfig } from 'vite';

/**
 * Bundles the client into `dist/jest` for Jest, which cannot `require` ECMAScript modules. Excludes libsodium and
 * lossless-json, which have CommonJS builds.
 */
export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  build: {
    lib: {
      entry: ['index', 'open', 'service-worker'].map((name) => join(import.meta.dirname, `dist/${name}.js`)),
      formats: ['cjs'],
      fileName: (_format, name) => `${name}.cjs`,
    },
    outDir: 'dist/jest',
    emptyOutDir: false,
    minify: false,
    rolldownOptions: {
      external: ['libsodium-wrappers', 'lossless-json'],
      output: { chunkFileNames: 'shared.cjs' },
    },
  },
});
