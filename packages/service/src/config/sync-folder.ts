import { open } from 'node:fs/promises';

/** Has on the disk which files a folder holds: a new file there outlasts a crash then. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
