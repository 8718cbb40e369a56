import { readFileSync } from 'node:fs';

/** Reads the version of a `package.json`, such as `0.1.0`. */
export function packageVersion(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
