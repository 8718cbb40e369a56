/** What the thread of checkpoints is told. */
export type CheckpointOrder = 'copy' | 'end';

/** Whether all of the log that was there was copied back. */
export interface CheckpointAnswer {
  readonly isWhole: boolean;
}

/** What the thread works with. */
export interface CheckpointThreadData {
  /** The file that `@photostructure/sqlite` is loaded from. */
  readonly library: string;
  /** The database file. */
  readonly path: string;
}

/**
 * The program of the thread: as text, because a file of its own would have to be found among sources, builds and bundles
 * alike. PASSIVE waits for nobody and holds nobody up; it is repeated while it takes long, so that what comes meanwhile is
 * little in the end.
 */
export const checkpointThread = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require(workerData.library);
  const database = new DatabaseSync(workerData.path);
  database.exec('pragma synchronous = full');
  database.exec('pragma wal_autocheckpoint = 0');
  const checkpoint = database.prepare('pragma wal_checkpoint(passive)');

  function copy() {
    for (let round = 1; ; round++) {
      const begun = performance.now();
      const { busy, log, checkpointed } = checkpoint.get();
      const isWhole = busy === 0 && log === checkpointed;
      if (!isWhole || round === 8 || performance.now() - begun < 20) return isWhole;
    }
  }

  parentPort.on('message', (order) => {
    if (order === 'copy') parentPort.postMessage({ isWhole: copy() });
    else {
      database.close();
      parentPort.close();
    }
  });
`;
