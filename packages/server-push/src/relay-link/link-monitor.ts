import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import { type Log, TroubleLog } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import type { Kysely } from 'kysely';
import type { ServerPushTables } from '../tables.js';
import type { RelayOutcome } from './relay-answer.js';

/** Last known state of the link to the relay. Timestamps are in Unix milliseconds. */
export interface RelayLinkStatus {
  readonly state: 'untested' | 'working' | 'failing';
  readonly lastSuccessAt: number | undefined;
  /** Start of the current outage; `undefined` if there is no outage. */
  readonly failingSince: number | undefined;
  /** The newest error, even if it no longer occurs. */
  readonly lastError: { readonly at: number; readonly reason: string } | undefined;
  /** When the relay last rejected a notification for a device, with the reason. */
  readonly lastRejection: { readonly at: number; readonly reason: string } | undefined;
}

/**
 * Reads the state that server processes last stored, to show to the admin. The state is `untested` if no process has
 * sent a request to the relay yet.
 */
export async function readRelayLinkStatus(db: Kysely<ServerPushTables>): Promise<RelayLinkStatus> {
  const row = await db.selectFrom('relay_link').selectAll().where('id', '=', 1).executeTakeFirst();
  const isTested = row !== undefined && (row.last_success_at !== null || row.last_error_at !== null);
  const state = !isTested ? 'untested' : row.failing_since === null ? 'working' : 'failing';
  return {
    state,
    lastSuccessAt: row?.last_success_at ?? undefined,
    failingSince: row?.failing_since ?? undefined,
    lastError: row?.last_error == null ? undefined : { at: row.last_error_at ?? 0, reason: row.last_error },
    lastRejection:
      row?.last_rejection == null
        ? undefined
        : { at: row.last_rejection_at ?? 0, reason: row.last_rejection },
  };
}

export interface LinkMonitorOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called when the relay answers again after an outage. Runs pending jobs immediately. */
  onRecovery(): Promise<void>;
}

// Minimum interval between writes of an unchanged state. A commit for each request would be wasteful.
const rewriteAfterMilliseconds = 60_000;
// Minimum duration of an outage. Shorter failures do not count, because a busy relay refuses requests now and then.
const outageMilliseconds = 30_000;

function troubleOf(outcome: RelayOutcome<unknown>): string | undefined {
  if (outcome.kind === 'accepted') return undefined;
  return outcome.kind === 'retry' ? outcome.reason : outcome.trouble;
}

/** Stores the state of the link to the relay for the admin, and logs state changes. */
export class LinkMonitor {
  readonly #options: LinkMonitorOptions;
  readonly #exchanges;
  readonly #isUp;
  readonly #troubleLog = new TroubleLog();
  #isConfigured = false;
  #reason: string | undefined;
  #failingSince: number | undefined;
  #writtenAt: number | undefined;

  constructor(options: LinkMonitorOptions) {
    this.#options = options;
    this.#exchanges = options.metrics.counter(
      'waxwing_relay_exchanges_total',
      'Requests to the relay, by outcome',
      ['outcome'],
    );
    this.#isUp = options.metrics.gauge(
      'waxwing_relay_up',
      'Whether the last request to the relay was answered as expected (1) or not (0)',
    );
    // Without a value until the first request to the relay: 0 would raise an alert.
    this.#isUp.remove();
  }

  /** Sets whether the server has a relay. If not, the metric has no value, even if a request is still in flight. */
  setConfigured(isConfigured: boolean): void {
    this.#isConfigured = isConfigured;
    if (!isConfigured) this.#isUp.remove();
  }

  /** Records the outcome of a request. Never rejects, because the request matters more than its record. */
  async report(outcome: RelayOutcome<unknown>): Promise<void> {
    this.#exchanges.inc({ outcome: outcome.kind === 'retry' ? outcome.cause : outcome.kind });
    const now = this.#options.clock();
    const reason = troubleOf(outcome);
    if (this.#isConfigured) this.#isUp.set(reason === undefined ? 1 : 0);
    const isChange = reason !== this.#reason || this.#writtenAt === undefined;
    if (!isChange && now - (this.#writtenAt ?? 0) < rewriteAfterMilliseconds) return;
    this.#report(reason);
    const failingSince = this.#failingSince;
    this.#failingSince = reason === undefined ? undefined : (failingSince ?? now);
    this.#reason = reason;
    this.#writtenAt = now;
    try {
      const isBack = isChange && reason === undefined && (await this.#wasAway(failingSince, now));
      await this.#write(reason, now);
      // Not awaited, because the request that detected the recovery must not wait for the jobs to be rescheduled.
      if (isBack) void this.#recover();
    } catch (err) {
      this.#options.log.error({ err }, 'the state of the link to the relay could not be stored');
    }
  }

  /** Runs pending jobs immediately. Never rejects. */
  async #recover(): Promise<void> {
    try {
      await this.#options.onRecovery();
    } catch (err) {
      this.#options.log.error(
        { err },
        'pending jobs for the relay could not be rescheduled; each runs at its original time',
      );
    }
  }

  async #wasAway(seenFailingSince: number | undefined, now: number): Promise<boolean> {
    // If this process saw no failure, another process may have seen one, or this process may have seen one before a
    // restart. Read it from the database.
    const failingSince =
      seenFailingSince ?? (await readRelayLinkStatus(this.#options.database.db)).failingSince;
    return failingSince !== undefined && now - failingSince >= outageMilliseconds;
  }

  #report(reason: string | undefined): void {
    const { log } = this.#options;
    if (reason === undefined) this.#troubleLog.end(() => log.info('the relay answers again'));
    else {
      this.#troubleLog.begin(reason, () =>
        log.error({ reason }, 'push notifications are delayed; the server retries automatically'),
      );
    }
  }

  async #write(reason: string | undefined, now: number): Promise<void> {
    const failingSince = this.#failingSince ?? null;
    const change =
      reason === undefined
        ? { last_success_at: now, failing_since: null }
        : { failing_since: failingSince, last_error_at: now, last_error: reason };
    await this.#options.database.write(({ db }) =>
      db
        .insertInto('relay_link')
        .values({ id: 1, ...change })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(change))
        .execute(),
    );
  }
}
