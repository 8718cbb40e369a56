import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { RelayNotifyAnyAnswer } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { type Log, TroubleLog } from '@waxwing/service/logging';
import { type Kysely, sql } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { RelayOutcome } from './relay-answer.js';

/** Whether the relay delivers for the organization, according to the relay's last response. */
export interface RealmPushStatus {
  readonly canPush: boolean;
  /** When the relay expects to switch push off, in Unix seconds; `null` if it does not. */
  readonly endTimestamp: number | null;
}

/** The fields of {@link RealmPushStatus} that changed. */
export type RealmPushStatusChange = Partial<RealmPushStatus>;

const initial: RealmPushStatus = { canPush: true, endTimestamp: null };

/** Reads the status that the relay last reported to any process. Without a report, the relay is assumed to deliver. */
export async function readRealmPushStatus(db: Kysely<ServerPushTables>): Promise<RealmPushStatus> {
  const row = await db
    .selectFrom('relay_link')
    .select(['can_push', 'push_end_timestamp'])
    .where('id', '=', 1)
    .executeTakeFirst();
  return { canPush: row?.can_push !== 0, endTimestamp: row?.push_end_timestamp ?? null };
}

export interface RealmPushStatusOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Publishes a change from the status `before` to the organization's clients, in the transaction that makes the
   * change.
   */
  publishChange(transaction: PushTransaction, before: RealmPushStatus): Promise<void>;
}

/**
 * How long this process relies on the last status it saw. It then rereads the stored status, because another process
 * may have stored a different status.
 */
const rereadAfterMilliseconds = 60_000;

/** Stores the relay's push status for the organization, and publishes changes. */
export class RealmPushStatusRecord {
  readonly #options: RealmPushStatusOptions;
  readonly #troubleLog = new TroubleLog();
  #seen: RealmPushStatus | undefined;
  #seenAt = 0;

  constructor(options: RealmPushStatusOptions) {
    this.#options = options;
  }

  /**
   * Records the status in the outcome of a notify request. Never rejects, because the notification was delivered and a
   * retry would deliver it again.
   */
  async report(outcome: RelayOutcome<RelayNotifyAnyAnswer>): Promise<void> {
    const status = statusIn(outcome);
    if (status === undefined) return;
    const { clock, database, log } = this.#options;
    const age = clock() - this.#seenAt;
    // On the happy path, push is on and unchanged, so the database is not read.
    if (status.canPush && isSame(status, this.#seen) && age >= 0 && age < rereadAfterMilliseconds) return;
    try {
      const stored = await readRealmPushStatus(database.db);
      if (!isSame(status, stored)) await this.#store(status, stored);
      this.#log(status);
      this.#seen = status;
      this.#seenAt = clock();
    } catch (err) {
      log.error({ err }, "the relay's push status for the organization could not be stored");
    }
  }

  /** Makes the next report compare its status with the stored status, which another process may have changed. */
  forget(): void {
    this.#seen = undefined;
  }

  async #store({ canPush, endTimestamp }: RealmPushStatus, stored: RealmPushStatus): Promise<void> {
    const { database, publishChange } = this.#options;
    const change = { can_push: canPush ? 1 : 0, push_end_timestamp: endTimestamp };
    await database.write(async (transaction) => {
      const written = await transaction.db
        .insertInto('relay_link')
        .values({ id: 1, ...change })
        .onConflict((conflict) =>
          conflict
            .column('id')
            .doUpdateSet(change)
            // Changes no row if another process has stored the same change, so that only one process publishes it.
            .where(sql<boolean>`coalesce(relay_link.can_push, 1) <> ${change.can_push}
              or coalesce(relay_link.push_end_timestamp, -1) <> ${endTimestamp ?? -1}`),
        )
        .returning('id')
        .execute();
      if (written.length === 0) return;
      await publishChange(transaction, stored);
    });
  }

  #log({ canPush }: RealmPushStatus): void {
    const { log } = this.#options;
    if (canPush) this.#troubleLog.end(() => log.info('the relay has switched push on again'));
    else {
      this.#troubleLog.begin('off', () =>
        log.error(
          'the relay has switched push off for the organization; notifications are dropped until it is on',
        ),
      );
    }
  }
}

/** Returns the status in a response. If the response contains none, the relay is assumed to deliver. */
export function realmPushStatusOf({
  realm_push_status: status,
}: Pick<RelayNotifyAnyAnswer, 'realm_push_status'>): RealmPushStatus {
  if (status === null) return initial;
  return { canPush: status.can_push, endTimestamp: status.expected_end_timestamp };
}

/** Returns the status in the outcome of a notify request; `undefined` if it contains none. */
export function statusIn(outcome: RelayOutcome<RelayNotifyAnyAnswer>): RealmPushStatus | undefined {
  if (outcome.kind === 'accepted') return realmPushStatusOf(outcome.answer);
  return outcome.code === 'PUSH_NOTIFICATIONS_DISALLOWED'
    ? { canPush: false, endTimestamp: null }
    : undefined;
}

function isSame(one: RealmPushStatus, other: RealmPushStatus | undefined): boolean {
  return one.canPush === other?.canPush && one.endTimestamp === other.endTimestamp;
}
