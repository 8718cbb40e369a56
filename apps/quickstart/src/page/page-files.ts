import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A static file as served to browsers. */
export interface PageFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Reads the page's files, which `npm run compile` bundles. Keys are file names; the key of the page itself is empty.
 * The files are served from memory, so no request can reach other files on this machine.
 */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  // The relative path is valid from this source file and from its compiled file.
  const folder = new URL('../../dist/browser/', import.meta.url);
  const files = new Map<string, PageFile>();
  for (const name of await readdir(fileURLToPath(folder))) {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined)
      throw new Error(`the page folder contains a file of unknown type: ${name}`);
    const bytes = await readFile(new URL(name, folder));
    files.set(name === 'index.html' ? '' : name, { contentType, bytes });
  }
  return files;
}
