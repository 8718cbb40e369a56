import * as mainDoor from '@waxwing/sodium';
import { build, type Plugin } from 'vite';
import { describe, expect, it } from 'vitest';

const entry = 'virtual:entry';

/** Returns a plugin that provides a module from source text, so that a bundle needs no files. */
function virtualModule(id: string, code: string): Plugin {
  return {
    name: id,
    enforce: 'pre',
    resolveId: (source) => (source === id ? `\0${id}` : null),
    load: (resolved) => (resolved === `\0${id}` ? code : null),
  };
}

/** Bundles the package's main entry point with vite for a browser. Returns the single file's text and imports. */
async function bundle(conditions: string[], plugins: Plugin[] = []) {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    root: import.meta.dirname,
    plugins: [virtualModule(entry, "export * from '@waxwing/sodium';"), ...plugins],
    resolve: { conditions },
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      rolldownOptions: { input: entry, preserveEntrySignatures: 'strict' },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('vite built nothing.');
  expect(output.output).toHaveLength(1);
  return output.output[0];
}

async function run(code: string): Promise<typeof mainDoor> {
  return import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);
}

async function expectToWork(door: typeof mainDoor, backend: string): Promise<void> {
  const sodium = await door.loadWasmSodium();
  const keyPair = sodium.generateKeyPair();
  const sealed = sodium.seal(new Uint8Array([1, 2, 3]), keyPair.publicKey);
  expect(sodium.backend).toBe(backend);
  expect(sodium.openSealed(sealed, keyPair)).toEqual(new Uint8Array([1, 2, 3]));
  expect(sodium.openSealed(sealed.slice(1), keyPair)).toBeUndefined();
}

describe('The main entry point, bundled by vite', () => {
  it('is one working file without imports', async () => {
    const chunk = await bundle(['@waxwing/source', 'browser']);
    expect([...chunk.imports, ...chunk.dynamicImports]).toEqual([]);
    expect(chunk.code).not.toMatch(/["']node:/);
    await expectToWork(await run(chunk.code), 'wasm');
  });
});

describe('The main entry point under the react-native condition', () => {
  it('exports the same names, and uses react-native-libsodium without WebAssembly', async () => {
    const standIn = `import libsodium from 'libsodium-wrappers'; export default libsodium;`;
    const chunk = await bundle(
      ['react-native', '@waxwing/source'],
      [virtualModule('react-native-libsodium', standIn)],
    );
    const door = await run(chunk.code);
    expect(Object.keys(door).sort()).toEqual(Object.keys(mainDoor).sort());
    expect(chunk.moduleIds.filter((id) => id.endsWith('/packages/sodium/src/wasm.ts'))).toEqual([]);
    await expectToWork(door, 'native');
  });
});
