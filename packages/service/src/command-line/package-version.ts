import { readFileSync } from 'node:fs';

/** The version in a `package.json`, such as `0.1.0`; what is asked for it is where that file is. */
export function packageVersion(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
