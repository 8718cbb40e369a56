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

/** What each package and app declares and exports, by name. What is exported again from elsewhere is no declaration. */
function exportedNames(): Map<string, Set<string>> {
  const unitsByName = new Map<string, Set<string>>();
  for (const file of sources) {
    const [unit = ''] = file.split('/src/');
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(declaration)) {
      unitsByName.set(name, (unitsByName.get(name) ?? new Set()).add(unit));
    }
  }
  return unitsByName;
}

it('gives no name to two things in different packages or apps', () => {
  const twice = [...exportedNames()].filter(([, units]) => units.size > 1);
  expect(twice.map(([name, units]) => `${name}: ${[...units].join(', ')}`)).toEqual([]);
});
