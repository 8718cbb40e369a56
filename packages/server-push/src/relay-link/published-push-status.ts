import { lockingRows } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { ServerPushOptions } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type RealmPushStatus, readRealmPushStatus } from './realm-push-status.js';

export interface PublishedPushStatusOptions
  extends Pick<ServerPushOptions, 'database' | 'log' | 'publishPushStatus'> {
  /** Whether this process has a relay configured. */
  isConfigured(): boolean;
}

/**
 * Publishes each change of the push status once to the organization's clients. The status changes if the relay switches
 * push on or off, or if the organization gets, changes or loses its relay. The last published status is stored, so that
 * a settings change is published after a restart, and processes on one database do not publish a change twice.
 */
export class PublishedPushStatus {
  readonly #options: PublishedPushStatusOptions;

  constructor(options: PublishedPushStatusOptions) {
    this.#options = options;
  }

  /** Returns the status that clients read. Notifications are sent if a relay is configured and has not switched push off. */
  async current(db: Kysely<ServerPushTables>): Promise<RealmPushStatus> {
    const { canPush, endTimestamp } = await readRealmPushStatus(db);
    return { canPush: canPush && this.#options.isConfigured(), endTimestamp };
  }

  /**
   * Publishes the current status if it differs from the last published status. If no status was ever published,
   * compares with `before` instead. Never rejects; after a failure the next call catches up.
   */
  async update(before: RealmPushStatus): Promise<void> {
    const { database, log, publishPushStatus } = this.#options;
    if (publishPushStatus === undefined) return;
    try {
      const published = (await this.#published(database.db)) ?? before;
      if (isSame(published, await this.current(database.db))) return;
      await database.write((transaction) => this.publishChange(transaction, before));
    } catch (err) {
      log.error({ err }, 'the push status could not be published to clients');
    }
  }

  /** Like {@link update}, in the caller's transaction. */
  async publishChange(transaction: PushTransaction, before: RealmPushStatus): Promise<void> {
    const { db } = transaction;
    const { publishPushStatus } = this.#options;
    if (publishPushStatus === undefined) return;
    await db
      .insertInto('published_push_status')
      .values({ id: 1, ...columnsOf(before) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    // Reads with a lock, so that a concurrent process sees this change and does not publish it again.
    const published = (await this.#published(db, true)) ?? before;
    const current = await this.current(db);
    if (isSame(published, current)) return;
    const { canPush, endTimestamp } = current;
    await db.updateTable('published_push_status').set(columnsOf(current)).where('id', '=', 1).execute();
    await publishPushStatus(transaction, {
      ...(canPush !== published.canPush && { canPush }),
      ...(endTimestamp !== published.endTimestamp && { endTimestamp }),
    });
  }

  async #published(db: Kysely<ServerPushTables>, isLocked = false): Promise<RealmPushStatus | undefined> {
    const query = db.selectFrom('published_push_status').selectAll().where('id', '=', 1);
    const row = await (isLocked ? query.modifyEnd(lockingRows(db)) : query).executeTakeFirst();
    return row && { canPush: row.can_push === 1, endTimestamp: row.push_end_timestamp };
  }
}

function columnsOf({ canPush, endTimestamp }: RealmPushStatus) {
  return { can_push: canPush ? 1 : 0, push_end_timestamp: endTimestamp };
}

function isSame(one: RealmPushStatus, other: RealmPushStatus): boolean {
  return one.canPush === other.canPush && one.endTimestamp === other.endTimestamp;
}
