/**
 * Commands to the checkpoint thread.
 *
 * - `copy`: copy the log to the database file while others write
 * - `finish`: copy the rest while writes are blocked
 * - `empty`: truncate the log
 * - `end`: exit
 */
export type CheckpointOrder = 'copy' | 'finish' | 'empty' | 'end';

/**
 * Reply of the checkpoint thread to all commands except `end`. `isWhole`: the log was completely copied (and truncated,
 * for `empty`).
 */
export interface CheckpointAnswer {
  readonly isWhole: boolean;
}

/** Worker data of the checkpoint thread. */
export interface CheckpointThreadData {
  /** File to load `@photostructure/sqlite` from. */
  readonly library: string;
  /** The database file. */
  readonly path: string;
}

/**
 * Source of the checkpoint thread. A string, because a separate file would have to be located in sources, builds and
 * bundles. PASSIVE neither waits nor blocks; it is repeated until it is quick, so that little remains for the final
 * pass. TRUNCATE waits up to a second for readers of the log.
 */
export const checkpointThread = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require(workerData.library);
  const database = new DatabaseSync(workerData.path);
  database.exec('pragma synchronous = full');
  database.exec('pragma wal_autocheckpoint = 0');
  database.exec('pragma busy_timeout = 1000');
  const passive = database.prepare('pragma wal_checkpoint(passive)');
  const truncate = database.prepare('pragma wal_checkpoint(truncate)');

  function run(checkpoint) {
    const { busy, log, checkpointed } = checkpoint.get();
    return busy === 0 && log === checkpointed;
  }

  function copy() {
    for (let round = 1; ; round++) {
      const begun = performance.now();
      const isWhole = run(passive);
      if (!isWhole || round === 8 || performance.now() - begun < 20) return isWhole;
    }
  }

  const orders = { copy, finish: () => run(passive), empty: () => run(truncate) };
  parentPort.on('message', (order) => {
    if (order !== 'end') parentPort.postMessage({ isWhole: orders[order]() });
    else {
      database.close();
      parentPort.close();
    }
  });
`;
