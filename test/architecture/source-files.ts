import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';

/** Root folder of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Every TypeScript file below a folder, as an absolute path. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The imports of a file: static, dynamic and type imports. */
export function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const patterns = [
    /^\s*(?:import|export)\s[^'";]*?from\s*['"]([^'"]+)['"]/gm,
    /^\s*import\s*['"]([^'"]+)['"]/gm,
    /\bimport\s*\(\s*['"]([^'"]+)['"]/g,
    /\brequire\s*\(\s*['"]([^'"]+)['"]/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] as string));
}

/** A function with its first and last line. */
export interface FoundFunction {
  readonly firstLine: number;
  readonly lines: number;
}

/** Finds every function in a file: declarations, assigned functions and methods, including nested ones. */
export function functionsOf(file: string): FoundFunction[] {
  const text = readFileSync(file, 'utf8');
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const found: FoundFunction[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, start, end } = node as { type?: unknown; start?: unknown; end?: unknown };
    const isFunction =
      typeof type === 'string' && /^(?:Arrow)?Function(?:Declaration|Expression)$/.test(type);
    if (isFunction && typeof start === 'number' && typeof end === 'number') {
      const firstLine = lineAt(start);
      found.push({ firstLine, lines: lineAt(end) - firstLine + 1 });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }));
  return found;
}
