import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAst } from 'vitest/node';
import { root } from './source-files.js';

const units = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
);

/** The source files behind the `exports` in a unit's package.json, for all platforms. */
function doorsOf(unit: string): string[] {
  const { exports = {} } = JSON.parse(readFileSync(join(unit, 'package.json'), 'utf8'));
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === '@waxwing/source' && typeof value === 'string') found.push(join(unit, value));
      else visit(value);
    }
  };
  visit(exports);
  return found;
}

interface Named {
  readonly name: string;
}

interface Statement {
  readonly type: string;
  readonly source: { readonly value: string } | null;
  readonly exported: Named | null;
  readonly specifiers: readonly { readonly local: Named; readonly exported: Named }[];
  readonly declaration: {
    readonly id?: Named;
    readonly declarations?: readonly { readonly id: Named }[];
  } | null;
}

/** Each name that a module exports, and the file that declares it. Omits re-exports from other packages. */
function exportsOf(file: string): Map<string, string> {
  const names = new Map<string, string>();
  const body = parseAst(readFileSync(file, 'utf8'), { lang: 'ts' }).body as unknown as Statement[];
  for (const { type, source, exported, specifiers = [], declaration } of body) {
    if (!type.startsWith('Export') || (source && !source.value.startsWith('.'))) continue;
    const target = source ? join(file, '..', source.value.replace(/\.js$/, '.ts')) : undefined;
    if (type === 'ExportAllDeclaration' && target !== undefined) {
      if (exported) names.set(exported.name, target);
      else for (const [name, declaredIn] of exportsOf(target)) names.set(name, declaredIn);
      continue;
    }
    const inTarget = target === undefined ? undefined : exportsOf(target);
    for (const one of specifiers) {
      names.set(one.exported.name, inTarget?.get(one.local.name) ?? target ?? file);
    }
    const declared = declaration?.declarations ?? (declaration === null ? [] : [declaration]);
    for (const { id } of declared ?? []) if (id) names.set(id.name, file);
  }
  return names;
}

const doors = units.flatMap(doorsOf);

/** The files that declare each name exported by packages. */
function filesByName(): Map<string, Set<string>> {
  const files = new Map<string, Set<string>>();
  for (const door of doors) {
    for (const [name, file] of exportsOf(door)) {
      files.set(name, (files.get(name) ?? new Set()).add(relative(root, file)));
    }
  }
  return files;
}

describe('the names that packages export', () => {
  it('are unique', () => {
    const twice = [...filesByName()].filter(([, files]) => files.size > 1);
    expect(twice.map(([name, files]) => `${name}: ${[...files].sort().join(', ')}`)).toEqual([
      // The same function, with an implementation for each platform.
      'loadWasmSodium: packages/sodium/src/react-native.ts, packages/sodium/src/wasm.ts',
    ]);
  });

  it('are found through every kind of re-export, and exclude local names', () => {
    const files = filesByName();
    expect(doors.length).toBeGreaterThan(15);
    expect(files.get('createHttpApp')).toEqual(new Set(['packages/service/src/http/create-http-app.ts']));
    expect(files.get('ListAnswer')).toEqual(new Set(['packages/service/src/http/operations/list-answer.ts']));
    expect(files.get('UploadedFile')).toEqual(new Set(['packages/service/src/http/bodies/uploaded-file.ts']));
    expect(files.get('logLevels')).toEqual(new Set(['packages/service/src/config/log-levels.ts']));
    expect(files.get('FairScheduler')).toBeUndefined();
  });
});
