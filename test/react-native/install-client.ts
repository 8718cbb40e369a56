import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/**
 * Installs the client's tarball from `npm pack` in a `node_modules` folder. The tarball contains the phone's other two
 * packages, but not their npm dependencies.
 */
export async function installClient(modules: string): Promise<void> {
  await run(join(root, 'node_modules/.bin/tsc'), ['-b', 'packages/client'], { cwd: root });
  const packed = join(modules, '.packed');
  await mkdir(packed, { recursive: true });
  const packing = ['pack', './packages/client', '--json', '--pack-destination', packed];
  const { stdout } = await run('npm', packing, { cwd: root });
  const [{ name, filename }] = JSON.parse(stdout) as [{ name: string; filename: string }];
  const target = join(modules, name);
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', join(packed, filename), '-C', target, '--strip-components=1']);
}
