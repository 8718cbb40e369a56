import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import { type Log, TroubleLog } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import type { Kysely } from 'kysely';
import type { ServerPushTables } from '../tables.js';
import type { RelayOutcome } from './relay-answer.js';

/** How the relay was found when it was last asked; instants in Unix milliseconds. */
export interface RelayLinkStatus {
  readonly state: 'untested' | 'working' | 'failing';
  readonly lastSuccessAt: number | undefined;
  /** Present while failing: since when, and the newest trouble. */
  readonly failingSince: number | undefined;
  /** The newest trouble, also when it is over. */
  readonly lastError: { readonly at: number; readonly reason: string } | undefined;
}

/** What the serving processes last found, for the admin. */
export async function readRelayLinkStatus(db: Kysely<ServerPushTables>): Promise<RelayLinkStatus> {
  const row = await db.selectFrom('relay_link').selectAll().where('id', '=', 1).executeTakeFirst();
  const state = row === undefined ? 'untested' : row.failing_since === null ? 'working' : 'failing';
  return {
    state,
    lastSuccessAt: row?.last_success_at ?? undefined,
    failingSince: row?.failing_since ?? undefined,
    lastError: row?.last_error == null ? undefined : { at: row.last_error_at ?? 0, reason: row.last_error },
  };
}

export interface LinkMonitorOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called when the relay answers again that did not for a while: what waits for it need not wait any longer. */
  onRecovery(): Promise<void>;
}

// Success and a trouble that lasts are written no more often than this: a commit for each exchange would be waste.
const rewriteAfterMilliseconds = 60_000;
// A relay that refuses now and then, because it is busy, is not one that was away.
const outageMilliseconds = 30_000;

/** Keeps the state of the link where an admin can see it, and logs when it changes. */
export class LinkMonitor {
  readonly #options: LinkMonitorOptions;
  readonly #exchanges;
  readonly #troubleLog = new TroubleLog();
  #reason: string | undefined;
  #failingSince: number | undefined;
  #writtenAt: number | undefined;

  constructor(options: LinkMonitorOptions) {
    this.#options = options;
    this.#exchanges = options.metrics.counter(
      'waxwing_relay_exchanges_total',
      'Requests to the relay, by what came of them',
      ['outcome'],
    );
  }

  /** Takes note of what an exchange came to. Never rejects: the exchange itself matters more than its record. */
  async report(outcome: RelayOutcome<unknown>): Promise<void> {
    this.#exchanges.inc({ outcome: outcome.kind === 'retry' ? outcome.cause : outcome.kind });
    const now = this.#options.clock();
    const reason = outcome.kind === 'retry' ? outcome.reason : undefined;
    const isChange = reason !== this.#reason || this.#writtenAt === undefined;
    if (!isChange && now - (this.#writtenAt ?? 0) < rewriteAfterMilliseconds) return;
    this.#tell(reason);
    const failingSince = this.#failingSince;
    this.#failingSince = reason === undefined ? undefined : (failingSince ?? now);
    this.#reason = reason;
    this.#writtenAt = now;
    try {
      const isBack = isChange && reason === undefined && (await this.#wasAway(failingSince, now));
      await this.#write(reason, now);
      // The exchange that found the relay back need not wait for all that waits.
      if (isBack) void this.#recover();
    } catch (err) {
      this.#options.log.error({ err }, 'the state of the link to the relay could not be stored');
    }
  }

  /** Never rejects. */
  async #recover(): Promise<void> {
    try {
      await this.#options.onRecovery();
    } catch (err) {
      this.#options.log.error(
        { err },
        'what waits for the relay could not be brought forward; it is tried at its own time',
      );
    }
  }

  async #wasAway(seenFailingSince: number | undefined, now: number): Promise<boolean> {
    // Another process may have seen it fail, or this one before it was started again.
    const failingSince =
      seenFailingSince ?? (await readRelayLinkStatus(this.#options.database.db)).failingSince;
    return failingSince !== undefined && now - failingSince >= outageMilliseconds;
  }

  #tell(reason: string | undefined): void {
    const { log } = this.#options;
    if (reason === undefined) this.#troubleLog.end(() => log.info('the relay answers again'));
    else {
      this.#troubleLog.begin(reason, () =>
        log.error({ reason }, 'push notifications are held up; trying again by itself'),
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
