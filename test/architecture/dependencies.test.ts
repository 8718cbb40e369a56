import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** The package tables, which precede the table of container images. */
const [page = ''] = readFileSync(join(root, 'docs/dependencies.md'), 'utf8').split('\n## Container images');

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

function manifests(): Manifest[] {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
  );
  return [root, ...folders].map(
    (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest,
  );
}

describe('dependencies', () => {
  const declared = manifests().flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
    Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }),
  );
  const foreign = declared.filter(([name]) => !name.startsWith('@waxwing/'));

  it('have exact versions, and one version per package in the whole tree', () => {
    expect(foreign.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    const versions = new Map<string, Set<string>>();
    for (const [name, version] of foreign) versions.set(name, (versions.get(name) ?? new Set()).add(version));
    expect([...versions].filter(([, different]) => different.size > 1)).toEqual([]);
  });

  it('match the tables in docs/dependencies.md, including versions', () => {
    const rows = [...page.matchAll(/^\| (`[^|]+`) \| ([^|]+) \|/gm)].flatMap(([, names = '', version = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => `${name} ${version.split(',')[0]?.trim()}`),
    );
    const installed = rows.filter((row) => !row.includes('>='));
    expect(installed.sort()).toEqual([...new Set(foreign.map((entry) => entry.join(' ')))].sort());
  });
});
