import { createHash } from 'node:crypto';
import type { InstalledPackage } from './lock-file.js';

/** A CycloneDX 1.6 document as plain JSON. */
export type BillOfMaterials = Readonly<Record<string, unknown>>;

/**
 * Creates the software bill of materials of a production installation: every package with its version, license,
 * checksum and dependencies. Deterministic: the same packages and time give the same document.
 * @param packages all packages, including the program
 * @param unixSeconds time of the build
 */
export function billOfMaterials(
  packages: readonly InstalledPackage[],
  program: string,
  unixSeconds: number,
): BillOfMaterials {
  const urls = new Map(packages.map((installed) => [installed.to, packageUrl(installed)]));
  // The same version of a package can be in two folders, but is listed as one component.
  const distinct = new Map(packages.map((installed) => [packageUrl(installed), installed]));
  const main = packages.find(({ from }) => from === `apps/${program}`) as InstalledPackage;
  distinct.delete(packageUrl(main));
  const components = [...distinct.values()].map((installed) => component(installed, 'library'));
  const dependencies = [main, ...distinct.values()].map(({ to, needs }) => ({
    ref: urls.get(to),
    dependsOn: [...new Set([...needs.values()].map((place) => urls.get(place)))].sort(),
  }));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([program, components]))}`,
    version: 1,
    metadata: {
      timestamp: new Date(unixSeconds * 1_000).toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: component(main, 'application'),
    },
    components,
    dependencies,
  };
}

function component(installed: InstalledPackage, type: 'application' | 'library') {
  const { name, version, license, integrity, optional } = installed;
  const [group, local] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return {
    'bom-ref': packageUrl(installed),
    type,
    ...(group !== undefined && { group }),
    name: local,
    version,
    scope: optional === true ? 'optional' : 'required',
    ...(integrity !== undefined && { hashes: [checksum(integrity)] }),
    ...(license !== undefined && { licenses: [licenseOf(license)] }),
    purl: packageUrl(installed),
  };
}

/** The package URL. The `@` of a scope must be escaped. */
function packageUrl({ name, version }: InstalledPackage): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** An SPDX identifier, or an expression such as `(MIT OR Apache-2.0)`. */
function licenseOf(license: string) {
  return license.includes(' ') ? { expression: license } : { license: { id: license } };
}

/** Converts npm's `sha512-` and base64 to CycloneDX's algorithm name and hexadecimal digits. */
function checksum(integrity: string) {
  const [, bits, digest = ''] = /^sha(\d+)-(\S+)/.exec(integrity) ?? [];
  if (bits === undefined) throw new Error(`package-lock.json has an unknown checksum: ${integrity}`);
  return { alg: `SHA-${bits}`, content: Buffer.from(digest, 'base64').toString('hex') };
}

/** A version 8 UUID (RFC 9562) derived from a hash, so that identical installations have the same serial number. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
