/**
 * What the thread of checkpoints is told: to copy the log back while others write, to copy what is left while nobody
 * does, to make the log empty, or to end.
 */
export type CheckpointOrder = 'copy' | 'finish' | 'empty' | 'end';

/** Whether all of the log that was there was copied back, and it is empty where that was told; none is given to `end`. */
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
 * little in the end. TRUNCATE waits a second for who reads from the log.
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
