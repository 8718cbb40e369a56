import { type Clock, MinuteWriter } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import type { RelayDatabase } from '../tables.js';
import { type ActivityCounts, hourOf, ServerActivityStore } from './server-activity-store.js';
import { type ServerState, stateOf } from './server-state.js';

/** Notification outcome that is counted per server. */
export type CountedOutcome = 'sent' | 'gone' | 'rejected';

export interface ServerActivityOptions {
  readonly database: RelayDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Records when servers were last seen and the outcomes of their notifications, for operators. Counts in memory and
 * writes once a minute, so that no request waits for the database. A process that is killed loses the last minute.
 */
export class ServerActivity {
  readonly #options: ServerActivityOptions;
  readonly #store: ServerActivityStore;
  readonly #servers;
  readonly #writer: MinuteWriter;
  #counts = new Map<string, ActivityCounts>();
  #totals: Record<ServerState, number> = { active: 0, suspended: 0, deactivated: 0 };

  constructor(options: ServerActivityOptions) {
    this.#options = options;
    this.#store = new ServerActivityStore(options.database);
    this.#servers = options.metrics.gauge('waxwing_servers', 'Servers that may use the relay, by state', [
      'state',
    ]);
    this.#writer = new MinuteWriter({
      log: options.log,
      write: () => this.#write(),
      sentences: {
        failing: 'the activity of servers cannot be recorded: "servers list" omits the current activity',
        recovered: 'the activity of servers is recorded again',
      },
    });
  }

  noteSeen(serverId: string): void {
    this.#of(serverId).lastSeenAt = this.#options.clock();
  }

  noteOutcome(serverId: string, outcome: CountedOutcome): void {
    this.#of(serverId)[outcome] += 1;
  }

  /** Servers by state, as of the last minute. */
  get serverTotals(): Readonly<Record<ServerState, number>> {
    return this.#totals;
  }

  async start(): Promise<void> {
    await this.flush();
    this.#writer.start();
  }

  /** Stops the timer and writes the last counts, waiting at most `deadlineMilliseconds`. */
  async stop(deadlineMilliseconds: number): Promise<void> {
    await this.#writer.stop(deadlineMilliseconds);
  }

  /**
   * Writes the counts since the last call. Never rejects: if a write fails, drops the counts and warns once per outage.
   */
  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  async #write(): Promise<void> {
    const { clock, database } = this.#options;
    const counts = this.#counts;
    this.#counts = new Map();
    await this.#store.add(counts, hourOf(clock()));
    await this.#countServers(database);
  }

  async #countServers({ db }: RelayDatabase): Promise<void> {
    const rows = await db.selectFrom('servers').select(['suspended_at', 'deactivated_at']).execute();
    const totals = { active: 0, suspended: 0, deactivated: 0 };
    for (const row of rows) totals[stateOf(row)] += 1;
    this.#totals = totals;
    for (const [state, total] of Object.entries(totals)) this.#servers.set({ state }, total);
  }

  #of(serverId: string): ActivityCounts {
    let counts = this.#counts.get(serverId);
    if (counts === undefined) {
      counts = { sent: 0, gone: 0, rejected: 0, lastSeenAt: 0 };
      this.#counts.set(serverId, counts);
    }
    return counts;
  }
}
