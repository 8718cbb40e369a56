import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const sayLoadedModules = join(root, 'test/support/say-loaded-modules.mjs');

/** What a command as it was built prints, and the npm packages that it loads for that. */
async function run(command: 'relay' | 'server' | 'vendors' | 'quickstart', ...argv: string[]) {
  const program = join(root, `apps/${command}/bin/waxwing-${command}.js`);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    ...['--import', sayLoadedModules, program],
    ...argv,
  ]);
  const packages = [...stderr.matchAll(/^loaded .*\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm)];
  return { stdout, packages: [...new Set(packages.map(([, name]) => name))].sort() };
}

describe.each(['relay', 'server'] as const)('the help of waxwing-%s', (command) => {
  it('comes without loading anything but what reads the arguments and says what went wrong', async () => {
    const { stdout, packages } = await run(command, '--help');
    expect(stdout).toMatch(/^ {2}serve {2,}\S.*[\s\S]*^ {2}queue {2,}\S/m);
    expect(packages).toEqual(['close-with-grace', 'commander']);
  });

  it('names the commands of a group, whichever way it is asked for', async () => {
    const { stdout, packages } = await run(command, 'queue', '--help');
    expect(stdout).toMatch(/^ {2}retry .*<id>/m);
    expect(packages).toContain('kysely');
    expect((await run(command, 'help', 'queue')).stdout).toBe(stdout);
  });
});

describe.each(['vendors', 'quickstart'] as const)('the help of waxwing-%s', (command) => {
  it('comes without loading what it would start', async () => {
    const { stdout, packages } = await run(command, '--help');
    expect(stdout).toMatch(/^ {2}--port-base <\w+> {2,}\S/m);
    expect(packages.filter((name) => !['close-with-grace', 'commander'].includes(name ?? ''))).toEqual([]);
  });
});
