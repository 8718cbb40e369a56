import { countDevices, type DeviceCounts } from '@waxwing/server-push';
import type { Clock } from '@waxwing/service/lifecycle';
import { sql } from 'kysely';
import { isLive } from '../../platform/event-queues/event-queue-store.js';
import type { ServerDatabase } from '../../tables.js';

export interface RowCounts {
  readonly devices: readonly DeviceCounts[];
  readonly eventQueues: {
    /** Event queues that have not expired. */
    readonly open: number;
    /** Users with an open event queue. */
    readonly users: number;
  };
}

const keptMilliseconds = 60_000;

/** Counts devices and event queues. Caches the counts for a minute, because counting reads every row. */
export class CountedRows {
  readonly #database: ServerDatabase;
  readonly #clock: Clock;
  #last: { readonly at: number; readonly counts: Promise<RowCounts> } | undefined;

  constructor(database: ServerDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Returns counts that are at most a minute old. Rejects if the database fails. The next call then counts again. */
  async read(): Promise<RowCounts> {
    const now = this.#clock();
    if (this.#last === undefined || Math.abs(now - this.#last.at) >= keptMilliseconds) {
      this.#last = { at: now, counts: this.#count(now) };
    }
    const reading = this.#last;
    try {
      return await reading.counts;
    } catch (error) {
      if (this.#last === reading) this.#last = undefined;
      throw error;
    }
  }

  async #count(now: number): Promise<RowCounts> {
    const { db } = this.#database;
    const [devices, { open, users }] = await Promise.all([
      countDevices(db),
      db
        .selectFrom('event_queues')
        .select([sql<number>`count(*)`.as('open'), sql<number>`count(distinct user_id)`.as('users')])
        .where(isLive(now))
        .executeTakeFirstOrThrow(),
    ]);
    return { devices, eventQueues: { open: Number(open), users: Number(users) } };
  }
}
