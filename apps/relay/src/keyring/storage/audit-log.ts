import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makePrivateFolder } from '@waxwing/service/config';

/** One thing that was done to the key ring. It names keys by id and holds no key material. */
interface AuditEntry {
  /** Unix milliseconds. */
  readonly at: number;
  /** Who: the operating system's name of a person at a terminal, or `schedule`. */
  readonly actor: string;
  readonly action: string;
  /** `begun` is on the disk before the change is, `done` after it: one without the other is a change that was cut off. */
  readonly phase: 'begun' | 'done';
  readonly changes: readonly string[];
}

/** Keeps what was done to the key ring, for good. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>;
}

/** An audit log as a file of JSON lines, mode 0600, that is only ever appended to. */
export function auditFile(path: string): AuditLog {
  return {
    async append({ at, ...entry }) {
      makePrivateFolder(dirname(path));
      const file = await open(path, 'a+', 0o600);
      try {
        // A process that died while it wrote leaves half a line, which must not spoil the next one.
        const start = (await endsInLine(file)) ? '' : '\n';
        await file.appendFile(`${start}${JSON.stringify({ at: new Date(at).toISOString(), ...entry })}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
    },
  };
}

async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString('latin1') === '\n';
}
