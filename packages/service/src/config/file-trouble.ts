const plainWords: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; check its path',
  ENOTDIR: 'a file is where a folder is expected; check its path',
  EISDIR: 'it is a folder; name a file',
  EEXIST: 'it already exists; name a new one',
  EACCES: 'permission denied; check its permissions and those of its folders',
  EPERM: 'permission denied; check its owner and permissions',
  EROFS: 'it is on a read-only file system; use another location',
  ENOSPC: 'the disk is full; free some space',
};

/** Whether {@link fileTrouble} has a custom description for a file system error. */
export function isFileTrouble(error: unknown): boolean {
  return Object.hasOwn(plainWords, (error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Describes a file system error and what to do about it, as the end of a sentence. For unknown errors, returns the
 * system's message.
 */
export function fileTrouble(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return plainWords[code] ?? message;
}
