import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** One package in package-lock.json (version 3). */
interface LockedPackage {
  /** Set only for the project's own packages. */
  readonly name?: string;
  readonly version: string;
  /** Subresource integrity of the tarball; not set for the project's own packages. */
  readonly integrity?: string;
  readonly license?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** A package in a production installation. */
export interface InstalledPackage extends LockedPackage {
  readonly name: string;
  /** The package's folder in the checkout, relative to the root. */
  readonly from: string;
  /** The package's folder in the installation: below `node_modules`, even for the project's own packages. */
  readonly to: string;
  /** The folder of each dependency in the installation, by the dependency's name. */
  readonly needs: ReadonlyMap<string, string>;
}

interface Link {
  readonly link: true;
  readonly resolved: string;
}

/**
 * Lists a program and every package that it needs in production, with the versions in package-lock.json. Omits
 * development packages, optional peers, and optional packages that are not installed on this platform.
 * @throws Error if a required package is not installed.
 */
export function productionPackages(root: string, program: string): readonly InstalledPackage[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage | Link>>;
  };
  const found = new Map<string, InstalledPackage>();
  const visit = (from: string): void => {
    if (found.has(from)) return;
    const locked = packages[from] as LockedPackage;
    const needs = new Map<string, string>();
    found.set(from, { ...locked, name: nameOf(from, packages), from, to: placeOf(from, packages), needs });
    for (const name of namesNeededBy(locked)) {
      const at = resolve(name, from, packages);
      const isInstalled = at !== undefined && existsSync(join(root, at, 'package.json'));
      if (isInstalled) {
        needs.set(name, placeOf(at, packages));
        visit(at);
      } else if (locked.optionalDependencies?.[name] === undefined) {
        throw new Error(`${name}, which ${from} needs, is not installed: run npm ci`);
      }
    }
  };
  visit(`apps/${program}`);
  return [...found.values()].sort((a, b) => (a.to < b.to ? -1 : 1));
}

function namesNeededBy(locked: LockedPackage): readonly string[] {
  const peers = Object.keys(locked.peerDependencies ?? {}).filter(
    (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }).concat(peers);
}

/** Resolves a name as Node does: in `node_modules` of the package's folder, then of each parent folder. */
function resolve(
  name: string,
  from: string,
  packages: Readonly<Record<string, LockedPackage | Link>>,
): string | undefined {
  for (let folder = from; ; folder = posix.dirname(folder)) {
    const at = posix.join(folder, 'node_modules', name);
    const entry = packages[at];
    if (entry !== undefined) return 'link' in entry ? entry.resolved : at;
    if (folder === '.') return undefined;
  }
}

/** Converts a folder in the checkout, such as `packages/markdown/node_modules/diff`, to its folder in the installation. */
function placeOf(from: string, packages: Readonly<Record<string, LockedPackage | Link>>): string {
  const [own = '', ...nested] = from.split(/\/(?=node_modules\/)/);
  const workspace = own.startsWith('node_modules/') ? own : `node_modules/${workspaceName(own, packages)}`;
  return [workspace, ...nested].join('/');
}

function nameOf(from: string, packages: Readonly<Record<string, LockedPackage | Link>>): string {
  return placeOf(from, packages).split('node_modules/').at(-1) as string;
}

function workspaceName(folder: string, packages: Readonly<Record<string, LockedPackage | Link>>): string {
  return (packages[folder] as { readonly name: string }).name;
}
