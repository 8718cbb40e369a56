import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

/** A file of the dashboard's page. */
export interface PageFile {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** The page's files by path below `/admin/`, such as `assets/index-4f2a.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};
const maximumFiles = 200;
const maximumFileBytes = 4 * 1024 * 1024;

/**
 * Reads the built page into memory, so that requests cannot reach any other file. Skips files of unknown types and
 * files larger than 4 MiB. Returns an empty map if the folder does not exist.
 */
export async function loadPageFiles(folder: string): Promise<PageFiles> {
  const files = new Map<string, PageFile>();
  const names = await readdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.sort().slice(0, maximumFiles)) {
    const contentType = contentTypes[extname(name)];
    const path = join(folder, name);
    if (contentType === undefined || (await stat(path)).size > maximumFileBytes) continue;
    files.set(name.replaceAll(sep, '/'), { bytes: await readFile(path), contentType });
  }
  return files;
}
