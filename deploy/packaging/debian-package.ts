import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { billOfMaterials } from './bill-of-materials.js';
import { installProgram, linkCommand } from './install-program.js';
import { productionPackages } from './lock-file.js';

export interface DebianPackageOptions {
  /** Root of a checkout that has been built. */
  readonly root: string;
  readonly program: 'relay' | 'server';
  /** Output folder. */
  readonly folder: string;
  /** `Name <address>` of the package's maintainer. */
  readonly maintainer: string;
  /** Modification time of every file in the package, in Unix seconds. */
  readonly unixSeconds: number;
}

/** Debian's names for the platforms that the native dependencies are compiled for. */
const architectures: Readonly<Record<string, string>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };

/**
 * Builds a Debian package of a program with its production dependencies, for this machine's architecture. The build is
 * reproducible: the same checkout and time give the same bytes. Needs dpkg-deb.
 * @returns the path of the package.
 */
export function buildDebianPackage({
  root,
  program,
  folder,
  maintainer,
  unixSeconds,
}: DebianPackageOptions): string {
  const platform = `${process.platform}-${process.arch}`;
  const architecture = architectures[platform];
  if (architecture === undefined)
    throw new Error(`no Debian package can be built for ${platform}: use linux-x64 or linux-arm64`);
  const packages = productionPackages(root, program);
  const manifest = JSON.parse(readFileSync(join(root, 'apps', program, 'package.json'), 'utf8'));
  const tree = mkdtempSync(join(tmpdir(), 'waxwing-deb-'));
  try {
    const lib = join(tree, 'usr/lib', `waxwing-${program}`);
    installProgram(root, packages, lib, platform);
    const bin = `../lib/waxwing-${program}/node_modules/@waxwing/${program}/bin/waxwing-${program}.js`;
    linkCommand(join(tree, 'usr/bin', `waxwing-${program}`), bin);
    const doc = join(tree, 'usr/share/doc', `waxwing-${program}`);
    write(join(doc, `waxwing-${program}.cdx.json`), json(billOfMaterials(packages, program, unixSeconds)));
    writeSystemFiles(root, program, tree);
    const values = {
      VERSION: manifest.version,
      ARCHITECTURE: architecture,
      MAINTAINER: maintainer,
      INSTALLED_SIZE: String(Math.ceil(totalBytes(tree) / 1024)),
      SUMMARY: manifest.description,
    };
    writeControlFiles(root, program, tree, values);
    return build(
      tree,
      join(folder, `waxwing-${program}_${manifest.version}_${architecture}.deb`),
      unixSeconds,
    );
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Writes the systemd unit, the files that declare the user and the folders, and the settings. */
function writeSystemFiles(root: string, program: string, tree: string): void {
  const unit = readFileSync(join(root, 'deploy/systemd', `waxwing-${program}.service`), 'utf8');
  const debian = (file: string) => template(root, file, program);
  write(
    join(tree, 'usr/lib/systemd/system', `waxwing-${program}.service`),
    unit.replace('/opt/waxwing/node_modules/.bin/', '/usr/bin/'),
  );
  write(join(tree, 'usr/lib/sysusers.d', `waxwing-${program}.conf`), debian('sysusers.conf'));
  write(join(tree, 'usr/lib/tmpfiles.d', `waxwing-${program}.conf`), debian('tmpfiles.conf'));
  write(join(tree, 'usr/share/doc', `waxwing-${program}`, 'copyright'), debian('copyright'));
  const settings = readFileSync(join(root, 'deploy', `${program}.env`), 'utf8');
  write(join(tree, 'etc/waxwing', `${program}.env`), settings, 0o640);
}

function writeControlFiles(
  root: string,
  program: string,
  tree: string,
  values: Readonly<Record<string, string>>,
): void {
  const control = Object.entries(values).reduce(
    (text, [name, value]) => text.replace(name, value),
    template(root, 'control', program),
  );
  write(join(tree, 'DEBIAN/control'), control);
  write(join(tree, 'DEBIAN/conffiles'), `/etc/waxwing/${program}.env\n`);
  for (const script of ['postinst', 'prerm', 'postrm'])
    write(join(tree, 'DEBIAN', script), template(root, script, program), 0o755);
}

function template(root: string, file: string, program: string): string {
  return readFileSync(join(root, 'deploy/debian', file), 'utf8').replaceAll('PROGRAM', program);
}

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

const json = (value: unknown) => `${JSON.stringify(value, null, 1)}\n`;

function totalBytes(tree: string): number {
  return entriesOf(tree).reduce(
    (sum, { kind, path }) => sum + (kind === 'file' ? statSync(path).size : 0),
    0,
  );
}

interface TreeEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
}

/** Lists every file, link and folder. Each folder comes after its contents. */
function entriesOf(folder: string): readonly TreeEntry[] {
  const inside = readdirSync(folder, { withFileTypes: true }).flatMap((entry): readonly TreeEntry[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entriesOf(path);
    return [{ path, kind: entry.isFile() ? 'file' : 'link' }];
  });
  return [...inside, { path: folder, kind: 'folder' }];
}

function build(tree: string, path: string, unixSeconds: number): string {
  for (const { path: entry, kind } of entriesOf(tree)) {
    // The mode of a created folder depends on the umask of the build, so set a fixed mode.
    if (kind === 'folder') chmodSync(entry, 0o755);
    lutimesSync(entry, unixSeconds, unixSeconds);
  }
  mkdirSync(dirname(path), { recursive: true });
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zzstd', '-z9', '--build', tree, path], {
    env: { PATH: process.env.PATH, SOURCE_DATE_EPOCH: String(unixSeconds) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return path;
}
