import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './installation.js';

/**
 * Copies the sources into a new folder, and builds and packs the packages there in a different time zone and locale.
 */
export function packAgain(names: readonly string[], folder: string, destination: string): void {
  const patterns = ['packages', 'apps', 'package.json', 'tsconfig.json'];
  const tracked = execFileSync('git', ['ls-files', '-z', ...patterns], { cwd: root, encoding: 'utf8' });
  for (const file of tracked.split('\0').filter(Boolean)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  linkDependencies(folder);
  // Removes NODE_ENV, which test runners set and which changes Vite's output.
  const { NODE_ENV, ...env } = process.env;
  const options = { cwd: folder, env: { ...env, TZ: 'Asia/Tokyo', LANG: 'tr_TR.UTF-8' } } as const;
  const bin = (name: string) => join(root, 'node_modules/.bin', name);
  execFileSync(bin('tsc'), ['-b', ...names], options);
  const jestBuild = ['build', '--config', 'packages/client/vite.config.ts'];
  execFileSync(bin('vite'), jestBuild, options);
  const dashboard = ['build', '--logLevel=error', '--config', 'apps/dashboard/vite.config.ts'];
  for (const page of ['page', 'server-page']) {
    execFileSync(bin('vite'), dashboard, { ...options, env: { ...options.env, WAXWING_PAGE: page } });
  }
  const workspaces = names.map((name) => `--workspace=${name}`);
  execFileSync('npm', ['pack', ...workspaces, '--pack-destination', destination], {
    ...options,
    stdio: 'pipe',
  });
}

/** Installed packages that the client's tarball bundles. */
const ofBundled = ['@noble', 'libsodium', 'libsodium-wrappers', 'lossless-json', 'zod'];

/** Links the checkout's installed packages, and the copy's own packages. */
function linkDependencies(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@waxwing'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@waxwing' || name === '.bin') continue;
    const installed = join(root, 'node_modules', name);
    // Copies instead of linking, because npm would pack a link's target into the client's bundle.
    if (ofBundled.includes(name)) cpSync(installed, join(modules, name), { recursive: true });
    else symlinkSync(installed, join(modules, name));
  }
  for (const parent of ['packages', 'apps'])
    for (const name of readdirSync(join(root, parent))) {
      symlinkSync(join(folder, parent, name), join(modules, '@waxwing', name));
      const nested = join(root, parent, name, 'node_modules');
      // Skips links created when the client was packed, because the copy must bundle its own packages.
      const isOfPacking = existsSync(join(nested, '@waxwing'));
      if (existsSync(nested) && !isOfPacking) symlinkSync(nested, join(folder, parent, name, 'node_modules'));
    }
}
