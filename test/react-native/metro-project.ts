import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadConfig, mergeConfig, runBuild } from 'metro';
import { installClient } from './install-client.js';

const root = join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);

/** npm packages that the client and the replacement for react-native-libsodium use. */
const foreignPackages = [
  '@noble/hashes',
  '@noble/curves',
  '@noble/ciphers',
  'lossless-json',
  'metro-runtime',
];

/** A React Native project on disk, with the client installed as by npm. */
export interface MetroProject {
  readonly directory: string;
  /** Bundles a module of the project for an Android release. Resolves to the bundle's path. */
  bundle(entryFile: string): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Creates a plain project with the packed packages in `node_modules`, React Native's babel preset, and Metro's default
 * configuration with the export condition that React Native adds. `files` are the project's own files, by name.
 */
export async function createMetroProject(files: Readonly<Record<string, string>>): Promise<MetroProject> {
  const directory = await mkdtemp(join(tmpdir(), 'waxwing-metro-'));
  const modules = join(directory, 'node_modules');
  await installPackages(modules);
  const preset = JSON.stringify(require.resolve('@react-native/babel-preset'));
  await writeFile(
    join(directory, 'babel.config.js'),
    `module.exports = { presets: [[${preset}, { enableBabelRuntime: false }]] };`,
  );
  await writeFile(
    join(directory, 'package.json'),
    '{ "name": "an-app", "version": "1.0.0", "private": true }',
  );
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  return {
    directory,
    bundle: (entryFile) => bundle(directory, entryFile),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function installPackages(modules: string): Promise<void> {
  await installClient(modules);
  for (const name of foreignPackages) {
    await cp(join(root, 'node_modules', name), join(modules, name), { recursive: true });
  }
}

async function bundle(directory: string, entryFile: string): Promise<string> {
  const config = mergeConfig(await loadConfig({ cwd: directory }), {
    projectRoot: directory,
    // An app has Metro's runtime inside its project. Here it is in the repository's node_modules.
    watchFolders: [directory, join(root, 'node_modules/metro-runtime')],
    cacheStores: [],
    fileMapCacheDirectory: directory,
    maxWorkers: 1,
    reporter: { update: () => {} },
    resolver: { useWatchman: false, unstable_conditionNames: ['react-native'] },
  });
  const out = join(directory, `${entryFile}.bundle.js`);
  await runBuild(config, { entry: entryFile, out, platform: 'android', dev: false, minify: false });
  return out;
}
