import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, root, sourceFiles } from './source-files.js';

/** Edges by name. */
type Graph = ReadonlyMap<string, readonly string[]>;

const units = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
);

/** Import graph of a unit's files, by their paths below its `src`. */
function fileGraph(unit: string): Graph {
  const source = join(root, unit, 'src');
  return new Map(
    sourceFiles(source).map((file) => [
      relative(source, file),
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => join(file, '..', specifier).replace(/\.js$/, ''))
        .flatMap((path) => ['.ts', '.tsx'].map((ending) => path + ending).filter(existsSync))
        .map((path) => relative(source, path)),
    ]),
  );
}

/**
 * Import graph of the folders directly in `parent`, each including everything below it. Ignores files directly in
 * `parent`, because they assemble the folders or are shared by them.
 */
function folderGraph(files: Graph, parent: string): Graph {
  const folderOf = (file: string): string | undefined => {
    const inside = relative(parent, file).split(sep);
    return inside[0] === '..' || inside.length < 2 ? undefined : inside[0];
  };
  const folders = new Map<string, Set<string>>();
  for (const [file, imports] of files) {
    const from = folderOf(file);
    if (from === undefined) continue;
    const known = folders.get(from) ?? new Set();
    folders.set(from, known);
    for (const folder of imports.map(folderOf)) {
      if (folder !== undefined && folder !== from) known.add(folder);
    }
  }
  return new Map([...folders].map(([folder, to]) => [folder, [...to]]));
}

/** Finds one cycle, such as `a > b > a`; `undefined` if there is none. */
function findCircle(graph: Graph): string | undefined {
  const settled = new Set<string>();
  const follow = (name: string, way: readonly string[]): string | undefined => {
    const begin = way.indexOf(name);
    if (begin >= 0) return [...way.slice(begin), name].join(' > ');
    if (settled.has(name)) return undefined;
    for (const next of graph.get(name) ?? []) {
      const circle = follow(next, [...way, name]);
      if (circle !== undefined) return circle;
    }
    settled.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const circle = follow(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe.each(units)('the imports within %s', (unit) => {
  const files = fileGraph(unit);

  it('refer to other units only by package name', () => {
    expect([...files.values()].flat().filter((file) => file.startsWith('..'))).toEqual([]);
  });

  it('contain no cycle of files', () => {
    expect(files.size).toBeGreaterThan(0);
    expect(findCircle(files)).toBeUndefined();
  });

  it('contain no cycle of folders', () => {
    const parents = new Set(
      [...files.keys()].flatMap((file) => {
        const names = file.split(sep).slice(0, -1);
        return names.map((_, depth) => names.slice(0, depth).join(sep));
      }),
    );
    const circles = [...parents].flatMap((parent) => {
      const circle = findCircle(folderGraph(files, parent));
      return circle === undefined ? [] : [`${parent || 'src'}: ${circle}`];
    });
    expect(circles).toEqual([]);
  });
});

describe('the search for cycles', () => {
  it('finds a cycle of files, even when starting at a file outside the cycle', () => {
    const graph = new Map([
      ['main.ts', ['a.ts']],
      ['a.ts', ['b.ts', 'c.ts']],
      ['b.ts', []],
      ['c.ts', ['d.ts']],
      ['d.ts', ['a.ts']],
    ]);
    expect(findCircle(graph)).toBe('a.ts > c.ts > d.ts > a.ts');
    expect(findCircle(new Map([...graph, ['d.ts', ['b.ts']]]))).toBeUndefined();
  });

  it('finds a cycle of folders, even if their files have no cycle', () => {
    const graph = new Map([
      ['rooms/a/one.ts', ['rooms/b/inner/two.ts']],
      ['rooms/b/inner/two.ts', ['rooms/shared.ts']],
      ['rooms/b/three.ts', ['rooms/a/four.ts']],
      ['rooms/a/four.ts', []],
      ['rooms/shared.ts', []],
    ]);
    expect(findCircle(graph)).toBeUndefined();
    expect(findCircle(folderGraph(graph, 'rooms'))).toBe('a > b > a');
    expect(findCircle(folderGraph(graph, ''))).toBeUndefined();
  });
});

const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

describe('the layers of the server', () => {
  it('import only layers above them in the table', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const rows = [...page.matchAll(/^\| (`apps\/server\/src\/[^|]+) \|/gm)].map(([, cell = '']) =>
      quoted(cell).map((name) => name.replace('apps/server/src/', '')),
    );
    expect(rows.length).toBeGreaterThanOrEqual(5);
    const source = join(root, 'apps/server/src');
    const storeyOf = (path: string) => {
      const [folder = ''] = relative(source, path).split('/');
      return rows.findIndex((names) => names.includes(folder));
    };
    const upward = sourceFiles(source).flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => join(file, '..', specifier))
        .filter((path) => storeyOf(file) >= 0 && storeyOf(path) > storeyOf(file))
        .map((path) => `${relative(source, file)} imports ${relative(source, path)}`),
    );
    expect(upward).toEqual([]);
  });
});
