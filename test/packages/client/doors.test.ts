import { build } from 'vite';
import { describe, expect, it } from 'vitest';

/** Bundles the package's entry point with vite under export conditions. Returns its imports and the included files. */
async function bundle(conditions: string[]) {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    root: import.meta.dirname,
    resolve: { conditions },
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: {
        input: import.meta.resolve('@waxwing/client').replace('file://', ''),
        external: ['react-native-libsodium'],
        preserveEntrySignatures: 'strict',
      },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('vite built nothing.');
  expect(output.output).toHaveLength(1);
  return output.output[0];
}

describe('The client, bundled', () => {
  it('is one file without imports for browsers', async () => {
    const chunk = await bundle(['@waxwing/source', 'browser']);
    expect([...chunk.imports, ...chunk.dynamicImports]).toEqual([]);
    expect(chunk.code).not.toMatch(/["']node:/);
    expect(chunk.exports).toContain('createPushClient');
  });

  it('imports only react-native-libsodium on React Native, and contains no WebAssembly', async () => {
    const chunk = await bundle(['react-native', '@waxwing/source']);
    expect(chunk.imports).toEqual(['react-native-libsodium']);
    expect(chunk.exports).toContain('createPushClient');
    expect(chunk.moduleIds.filter((id) => id.includes('libsodium-wrappers'))).toEqual([]);
  });

  it('has an export condition that resolves to the entry point for React Native', async () => {
    const { default: manifest } = await import('../../../packages/client/package.json', {
      with: { type: 'json' },
    });
    const {
      'react-native': reactNative,
      '@waxwing/source': source,
      types,
      default: main,
    } = manifest.exports['.'];
    expect(reactNative).toEqual({ '@waxwing/source': source, types, default: main });
  });
});
