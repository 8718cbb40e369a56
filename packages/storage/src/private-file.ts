import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes an empty file of mode 0600, and its folder, where there is none. One that is there must be readable and writable,
 * but is not opened: closing a file ends every lock of the operating system that this process holds on it.
 * @throws the operating system's error.
 */
export function makePrivateFile(path: string): void {
  if (existsSync(path)) {
    accessSync(path, constants.R_OK | constants.W_OK);
  } else {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  }
}
