import { stat } from 'node:fs/promises';

/** Whether `path` exists, as a file or folder. @throws the operating system's error, unless it is ENOENT. */
export async function fileExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
