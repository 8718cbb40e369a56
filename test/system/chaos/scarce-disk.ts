import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small disk for processes' databases that can be filled and freed while the processes run. */
export interface ScarceDisk {
  readonly folder: string;
  /** Fills the disk, so that no process can write another byte. */
  useUp(processIds: readonly number[]): void;
  giveBack(processIds: readonly number[]): void;
  close(): void;
}

const blockBytes = 4096;

/** Mounts a 16 MiB file system that can be filled. @throws Error with the reason if the user may not mount one. */
export function mountScarceDisk(): ScarceDisk {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=700', 'tmpfs', folder]);
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true });
    throw new Error(String(mounted.stderr ?? mounted.error).trim());
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    useUp: () => fill(filler),
    giveBack: () => rmSync(filler),
    close() {
      // Unmounts lazily, because this process may keep a file open until its reader is garbage-collected.
      spawnSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(blockBytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

/** Simulates a full disk by a file size limit that the system enforces for each process (setrlimit, RLIMIT_FSIZE). */
export function limitFileSizes(): ScarceDisk {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-disk-'));
  const limit = (processIds: readonly number[], softLimit: string) => {
    for (const id of processIds) {
      const { status, stderr } = spawnSync('prlimit', [`--pid=${id}`, `--fsize=${softLimit}:`]);
      if (status !== 0) throw new Error(`prlimit failed: ${stderr}`);
    }
  };
  return {
    folder,
    useUp: (processIds) => limit(processIds, '1'),
    giveBack: (processIds) => limit(processIds, 'unlimited'),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
