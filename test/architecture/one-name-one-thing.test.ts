import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const sources = execFileSync('git', ['ls-files', 'packages/*/src/*.ts', 'apps/*/src/*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:interface|type|class|const|let|function\*?|enum) (\w+)/gm;

/** Which files declare and export a name. What is exported again from elsewhere is no declaration. */
function exportedNames(): Map<string, Set<string>> {
  const filesByName = new Map<string, Set<string>>();
  for (const file of sources) {
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(declaration)) {
      filesByName.set(name, (filesByName.get(name) ?? new Set()).add(file));
    }
  }
  return filesByName;
}

it('gives no name to two things that are exported', () => {
  const twice = [...exportedNames()].filter(([, files]) => files.size > 1);
  expect(twice.map(([name, files]) => `${name}: ${[...files].join(', ')}`)).toEqual([
    // One thing, which each platform loads in its own way.
    'loadWasmSodium: packages/sodium/src/react-native.ts, packages/sodium/src/wasm.ts',
  ]);
});
