import { constants, type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  ConfigurationError,
  fileTrouble,
  makePrivateFolder,
  requireWritableFolder,
} from '@waxwing/service/config';

/** One audited action on the key ring. Names keys by id and contains no key material. */
interface AuditEntry {
  /** Unix milliseconds. */
  readonly at: number;
  /** OS user name of the person at the terminal, `dashboard`, or `schedule`. */
  readonly actor: string;
  readonly action: string;
  /** `begun` is written before the change, and `done` after it. `begun` without `done` means an interrupted change. */
  readonly phase: 'begun' | 'done';
  readonly changes: readonly string[];
}

/** Permanent audit log of key ring changes. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>;
}

/** Append-only audit log in a file of JSON lines, mode 0600. */
export function auditFile(path: string): AuditLog {
  return {
    async append({ at, ...entry }) {
      makePrivateFolder(dirname(path));
      const file = await open(path, 'a+', 0o600);
      try {
        // A process that died while writing leaves an incomplete last line. Do not append to that line.
        const start = (await endsInLine(file)) ? '' : '\n';
        await file.appendFile(`${start}${JSON.stringify({ at: new Date(at).toISOString(), ...entry })}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
    },
  };
}

/**
 * Checks that the audit log can be appended to, or created. Creates nothing.
 * @throws ConfigurationError if the path is a folder or this user may not write there.
 */
export async function requireAuditFile(path: string): Promise<void> {
  try {
    const file = await open(path, constants.O_RDWR | constants.O_APPEND).catch(unlessMissing);
    if (file === undefined) requireWritableFolder(dirname(path));
    await file?.close();
  } catch (error) {
    const problem = `The key ring cannot be changed, because its audit log ${path} cannot be written: ${fileTrouble(error)}.`;
    throw new ConfigurationError([problem], { cause: error });
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString('latin1') === '\n';
}
