import { type RealmPushStatus, type RelayLinkStatus, readRelayLinkStatus } from '@waxwing/server-push';
import type { ServerContext } from '../../context.js';
import type { CountedRows, RowCounts } from './counted-rows.js';

interface JobCounts {
  readonly kind: string;
  readonly due: number;
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
}

/** The parts of the overview that come from the database. */
export interface StoredFigures extends RowCounts {
  readonly link: RelayLinkStatus;
  readonly pushStatus: RealmPushStatus;
  readonly jobs: readonly JobCounts[];
  /** Unix milliseconds. */
  readonly oldestDueAt: number | undefined;
}

export const noFigures: StoredFigures = {
  link: {
    state: 'untested',
    lastSuccessAt: undefined,
    failingSince: undefined,
    lastError: undefined,
    lastRejection: undefined,
  },
  pushStatus: { canPush: true, endTimestamp: null },
  devices: [],
  eventQueues: { open: 0, users: 0 },
  jobs: [],
  oldestDueAt: undefined,
};

/** Reads the stored states, the job counts (each up to a maximum), and row counts that are at most a minute old. */
export async function readFigures(
  { database, serverPush }: ServerContext,
  countedRows: CountedRows,
): Promise<StoredFigures> {
  const [link, pushStatus, counts, tallies, oldest] = await Promise.all([
    readRelayLinkStatus(database.db),
    serverPush.realmPushStatus(),
    countedRows.read(),
    database.jobs.tally(),
    database.jobs.oldestDueAt(),
  ]);
  const jobs = tallies.map(({ kind, due, waiting, running, dead }) => ({
    kind,
    due: Number(due),
    waiting: Number(waiting),
    running: Number(running),
    dead: Number(dead),
  }));
  return {
    ...counts,
    link,
    pushStatus,
    jobs,
    oldestDueAt: oldest === undefined ? undefined : Number(oldest),
  };
}
