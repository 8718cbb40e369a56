import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Global setup that fails the run if an operation declares an error code that no test provokes. Does nothing unless all
 * test files ran.
 */
export default function watchProvokedCodes(): () => void {
  // Each vitest project calls this function. Only the first call starts the check.
  if (process.env.WAXWING_PROVOKED_CODES !== undefined) return () => undefined;
  const directory = mkdtempSync(join(tmpdir(), 'waxwing-codes-'));
  const file = join(directory, 'provoked');
  writeFileSync(file, '');
  process.env.WAXWING_PROVOKED_CODES = file;
  return () => {
    const lines = readFileSync(file, 'utf8').split('\n');
    rmSync(directory, { recursive: true });
    const seen = new Set(lines);
    if (!testFiles().every((path) => seen.has(`file ${path}`))) return;
    const missing = missingCodes(lines);
    if (missing.length === 0) return;
    // A thrown error would be printed without failing the run.
    process.exitCode = 1;
    throw new Error(`No test provokes these codes, which their operations declare:\n${missing.join('\n')}`);
  };
}

const declaration = 'declared ';

/**
 * Lines for the record of provoked codes that list the codes an operation declares. Written by the test that lists all
 * operations.
 */
export function declaredLines(
  { method, path }: { readonly method: string; readonly path: string },
  codes: readonly string[],
): string[] {
  return codes.map((code) => `${declaration}${method} ${path} ${code}`);
}

/** Declared codes that no test provoked. If no operation was declared, returns one entry that says so. */
export function missingCodes(lines: readonly string[]): string[] {
  const seen = new Set(lines);
  const declared = lines.filter((line) => line.startsWith(declaration));
  if (declared.length === 0) return ['(no operation was declared)'];
  return declared.map((line) => line.slice(declaration.length)).filter((line) => !seen.has(line));
}

function testFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => resolve('test', path));
}
