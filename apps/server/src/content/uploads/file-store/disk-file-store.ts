import { createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from '@waxwing/service/config';
import type { FileStore } from './file-store.js';
import { makeUploadsFolder } from './uploads-folder.js';

/**
 * Opens a store in a folder that only its owner can access. Creates the folder if it is missing.
 * @throws ConfigurationError if the folder cannot be created or other users can access it.
 */
export async function openDiskFileStore(folder: string): Promise<FileStore> {
  const root = resolve(folder);
  makeUploadsFolder(root);
  const place = (pathId: string): string => join(root, ...pathId.split('/'));
  return {
    async write(pathId, content, _contentType) {
      const path = place(pathId);
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        // `flush` syncs the file to disk before the stream closes.
        await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
        for (let above = dirname(path); above !== dirname(root); above = dirname(above))
          await syncFolder(above);
      } catch (error) {
        content.destroy();
        await removeFile(path);
        throw error;
      }
    },
    async read(pathId, range) {
      const file = await openExisting(place(pathId));
      return file?.createReadStream(range);
    },
    remove: (pathId) => removeFile(place(pathId)),
  };
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Removes a file, and its folder if the folder is then empty. */
async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
  try {
    await rmdir(dirname(path));
  } catch (error) {
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
