import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { InstalledPackage } from './lock-file.js';

/** Type declarations, sources and source maps, which no program loads. */
const unused = /\.(?:[cm]?ts|tsx|map|tsbuildinfo)$/;
/** C and C++ sources of native packages. Their compiled code is in `prebuilds`. */
const native = /\.(?:c|cc|cpp|h|gyp|gypi)$/;

/**
 * Copies packages into a folder, but only the files that a program loads on this platform. Every file gets mode 0644 or
 * 0755, even if the checkout is private.
 * @param platform Node's `process.platform` and `process.arch`, such as `linux-x64`.
 */
export function installProgram(
  root: string,
  packages: readonly InstalledPackage[],
  folder: string,
  platform: string,
): void {
  for (const { from, to } of packages) {
    const own = !from.includes('node_modules/');
    for (const file of own ? publishedFiles(join(root, from)) : filesBelow(join(root, from))) {
      if (unused.test(file) || native.test(file) || isForOtherPlatform(file, platform)) continue;
      copy(join(root, from, file), join(folder, to, file));
    }
  }
}

/** Creates a symbolic link to a program's command, as npm does in `node_modules/.bin`. */
export function linkCommand(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  symlinkSync(target, path);
}

/** The files that npm would publish: those in the manifest's `files`, `LICENSE` and `package.json`. */
function publishedFiles(folder: string): readonly string[] {
  const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { files: string[] };
  const folders = files.filter((entry) => !entry.startsWith('!'));
  return [
    'LICENSE',
    'package.json',
    ...folders.flatMap((entry) => filesBelow(join(folder, entry)).map((file) => join(entry, file))),
  ];
}

/** All files below a folder, except nested packages, which are installed separately. */
function filesBelow(folder: string, below = ''): readonly string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(folder, path);
    return entry.isFile() ? [path] : [];
  });
}

/** Whether a file is compiled for a different platform, such as `prebuilds/darwin-arm64/…`, or for musl instead of glibc. */
function isForOtherPlatform(file: string, platform: string): boolean {
  const [, built] = /(?:^|\/)prebuilds\/([^/]+)\//.exec(file) ?? [];
  return built !== undefined && (built !== platform || file.includes('musl'));
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  copyFileSync(from, to);
  const isScript = readFileSync(from).subarray(0, 2).toString('latin1') === '#!';
  chmodSync(to, isScript ? 0o755 : 0o644);
}
