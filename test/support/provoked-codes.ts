import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Around a whole run of the tests: each code that an operation declares as its own must have been answered by it in some
 * test. Nothing is looked at where only some test files ran.
 */
export default function watchProvokedCodes(): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'waxwing-codes-'));
  const file = join(directory, 'provoked');
  writeFileSync(file, '');
  process.env.WAXWING_PROVOKED_CODES = file;
  return async () => {
    const lines = new Set(readFileSync(file, 'utf8').split('\n'));
    rmSync(directory, { recursive: true });
    if (!testFiles().every((path) => lines.has(`file ${path}`))) return;
    const missing = (await declaredCodes()).filter((line) => !lines.has(line));
    if (missing.length === 0) return;
    throw new Error(`No test provokes these codes, which their operations declare:\n${missing.join('\n')}`);
  };
}

function testFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => resolve('test', path));
}

async function declaredCodes(): Promise<string[]> {
  const [{ relayAdminOperations, relayOperations }, { serverOperations }] = await Promise.all([
    import('@waxwing/relay'),
    import('@waxwing/server'),
  ]);
  return [...relayAdminOperations, ...relayOperations, ...serverOperations].flatMap(
    ({ method, path, codes }) => codes.map((code) => `${method} ${path} ${code}`),
  );
}
