import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
  readonly bundleDependencies?: readonly string[];
  readonly scripts?: Record<string, string>;
}

/** The manifest that `npm publish` would upload, as packed by npm. */
async function publishedManifest(name: string): Promise<Manifest> {
  const folder = join(root, 'packages', name);
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: folder });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  expect(files.map(({ path }) => path)).toContain('package.json');
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

async function manifestOf(name: string): Promise<Manifest> {
  if (name.startsWith('@waxwing/')) return publishedManifest(name.slice('@waxwing/'.length));
  const require = createRequire(join(root, 'package.json'));
  const folder = require.resolve.paths(name)?.[0] ?? '';
  return JSON.parse(await readFile(join(folder, name, 'package.json'), 'utf8')) as Manifest;
}

/**
 * Packages that npm installs along with a package: dependencies, optional dependencies, and peers that are not
 * optional. Excludes bundled packages, which are in the tarball.
 */
function installedWith({ dependencies, optionalDependencies, ...peers }: Manifest): string[] {
  const bundled = new Set(peers.bundleDependencies);
  const required = Object.keys(peers.peerDependencies ?? {}).filter(
    (name) => peers.peerDependenciesMeta?.[name]?.optional !== true,
  );
  const separate = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !bundled.has(name),
  );
  return [...separate, ...required];
}

it('the client installs only these packages, which add no native code and run no install script', async () => {
  const manifests = new Map<string, Manifest>();
  const toVisit = ['@waxwing/client'];
  for (const name of toVisit) {
    const manifest = await manifestOf(name);
    manifests.set(name, manifest);
    toVisit.push(...installedWith(manifest).filter((other) => !toVisit.includes(other)));
  }
  expect([...manifests.keys()].sort()).toEqual([
    '@noble/ciphers',
    '@noble/curves',
    '@noble/hashes',
    '@waxwing/client',
    'libsodium',
    'libsodium-wrappers',
    'lossless-json',
  ]);
  const scripts = [...manifests.values()].flatMap((manifest) => Object.keys(manifest.scripts ?? {}));
  expect(scripts.filter((script) => /^(?:pre|post)?install$/.test(script))).toEqual([]);
});
