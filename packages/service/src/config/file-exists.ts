import { stat } from 'node:fs/promises';

/** Whether there is a file or a folder at `path`. @throws the system's error when that cannot be found out. */
export async function fileExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
