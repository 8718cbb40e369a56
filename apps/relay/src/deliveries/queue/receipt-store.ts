import type { RelayDeviceId } from '@waxwing/protocol';
import { type DeliveryFault, type DeliveryStatus, deliveryFaults, deliveryStatuses } from '@waxwing/protocol';
import { removeInBatches } from '@waxwing/storage';
import type { Selectable, Transaction } from 'kysely';
import type { Addressee } from '../../registrations/store/addressee.js';
import type { RelayDatabase, RelayTables } from '../../tables.js';
import type { Outcome } from '../policy/judge-answer.js';

/** Primary key of a receipt. Includes the device: notifications of one message to several devices may share an id. */
export interface ReceiptKey {
  readonly serverId: string;
  readonly notificationId: string;
  readonly relayDeviceId: RelayDeviceId;
  readonly addressee: Addressee;
}

/** An outcome in the format that is stored and reported to servers. */
export interface ReportedOutcome {
  readonly status: DeliveryStatus;
  readonly reason: string | undefined;
  readonly fault: DeliveryFault | undefined;
}

/** Converts a key to a unique string. */
export function keyOf({ serverId, notificationId, relayDeviceId, addressee }: ReceiptKey): string {
  return `${serverId} ${notificationId} ${relayDeviceId} ${addressee}`;
}

/** The recorded outcome of a notification. */
export interface Receipt extends ReceiptKey, ReportedOutcome {
  readonly attempts: number;
  /** Number of attempts that may have delivered the notification. Default: 0. */
  readonly doubts?: number | undefined;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  /** Earliest time of the queued attempt, if later than its scheduled time. Unix milliseconds. */
  readonly notBefore?: number | undefined;
}

const keyColumns = ['server_id', 'notification_id', 'relay_device_id', 'push_account_id'] as const;
const rowsPerStatement = 500;
const rememberedMilliseconds = 24 * 60 * 60_000;
/**
 * Maximum age of a queued receipt. The queue gives up on a notification after one day and then updates the receipt. The
 * job of an older queued receipt no longer exists.
 */
const longestQueuedMilliseconds = 3 * rememberedMilliseconds;

/**
 * Reads receipts, and deletes them one day after they settle. Only a notification that has an id or was queued has a
 * receipt.
 */
export class ReceiptStore {
  readonly #database: RelayDatabase;

  constructor(database: RelayDatabase) {
    this.#database = database;
  }

  /** Finds the receipts of a server's notifications, for all devices. */
  async find(serverId: string, notificationIds: readonly string[]): Promise<Receipt[]> {
    const found: Receipt[] = [];
    for (let offset = 0; offset < notificationIds.length; offset += rowsPerStatement) {
      const rows = await this.#database.db
        .selectFrom('delivery_receipts')
        .selectAll()
        .where('server_id', '=', serverId)
        .where('notification_id', 'in', notificationIds.slice(offset, offset + rowsPerStatement))
        .execute();
      for (const row of rows) found.push(toReceipt(row));
    }
    return found;
  }

  /** Finds the receipt with this key; `undefined` if no such receipt is stored. */
  async findOne({
    serverId,
    notificationId,
    relayDeviceId,
    addressee,
  }: ReceiptKey): Promise<Receipt | undefined> {
    const row = await this.#database.db
      .selectFrom('delivery_receipts')
      .selectAll()
      .where('server_id', '=', serverId)
      .where('notification_id', '=', notificationId)
      .where('relay_device_id', '=', relayDeviceId)
      .where('push_account_id', '=', addressee)
      .executeTakeFirst();
    return row && toReceipt(row);
  }

  async countQueued(): Promise<number> {
    const { count } = await this.#database.db
      .selectFrom('delivery_receipts')
      .select(({ fn }) => fn.countAll().as('count'))
      .where('status', '=', 'queued')
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /**
   * Deletes receipts one day after they settled, and queued receipts whose job no longer exists. Returns the number of
   * deleted receipts.
   */
  async forgetOld(now: number, signal: AbortSignal): Promise<number> {
    const settled = ['sent', 'gone', 'rejected'];
    const forgotten = await this.#forget(settled, now - rememberedMilliseconds, signal);
    return forgotten + (await this.#forget(['queued'], now - longestQueuedMilliseconds, signal));
  }

  #forget(statuses: readonly string[], before: number, signal: AbortSignal): Promise<number> {
    const forgetSome = async (limit: number): Promise<number> => {
      const { numDeletedRows } = await this.#database.write(({ db }) =>
        db
          .deleteFrom('delivery_receipts')
          .where(({ eb, refTuple, selectFrom }) =>
            eb(
              refTuple(...keyColumns),
              'in',
              selectFrom('delivery_receipts')
                .select(keyColumns)
                .where('status', 'in', statuses)
                .where('updated_at', '<', before)
                .limit(limit)
                .$asTuple(...keyColumns),
            ),
          )
          // Repeats the subquery's condition: another process may requeue the notification between the two reads.
          .where('status', 'in', statuses)
          .where('updated_at', '<', before)
          .executeTakeFirstOrThrow(),
      );
      return Number(numDeletedRows);
    };
    return removeInBatches(forgetSome, signal);
  }
}

export function reportOutcome(outcome: Outcome): ReportedOutcome {
  return {
    status: outcome.kind === 'retry' ? 'queued' : outcome.kind,
    reason: outcome.kind === 'sent' ? undefined : outcome.reason,
    fault: 'fault' in outcome ? outcome.fault : undefined,
  };
}

/** Converts a stored outcome back into an {@link Outcome} without pending side effects. */
export function outcomeOf({ status, reason = '', fault = 'vendor' }: ReportedOutcome): Outcome {
  switch (status) {
    case 'sent':
      return { kind: 'sent' };
    case 'queued':
      return { kind: 'retry', reason, at: 0, isTry: false };
    case 'gone':
      return { kind: 'gone', reason };
    case 'rejected':
      return { kind: 'rejected', reason, fault };
  }
}

export type TryCounts = Pick<Receipt, 'attempts' | 'doubts'>;

/** Returns the counts after an outcome. Postponing a notification does not count as an attempt. */
export function countTry(outcome: Outcome, { attempts, doubts = 0 }: TryCounts = { attempts: 0 }): TryCounts {
  if (outcome.kind !== 'retry') return { attempts: attempts + 1, doubts };
  return {
    attempts: attempts + (outcome.isTry ? 1 : 0),
    doubts: doubts + (outcome.isInDoubt === true ? 1 : 0),
  };
}

/** Builds the receipt of an outcome. */
export function receiptOf(
  { serverId, notificationId, relayDeviceId, addressee }: ReceiptKey,
  outcome: Outcome,
  counts: TryCounts,
  updatedAt: number,
): Receipt {
  const key = { serverId, notificationId, relayDeviceId, addressee };
  return { ...key, ...reportOutcome(outcome), ...counts, updatedAt };
}

/** Upserts receipts by their keys. */
export async function saveReceipts(
  db: Transaction<RelayTables>,
  receipts: readonly Receipt[],
): Promise<void> {
  for (let offset = 0; offset < receipts.length; offset += rowsPerStatement) {
    await db
      .insertInto('delivery_receipts')
      .values(receipts.slice(offset, offset + rowsPerStatement).map(toRow))
      .onConflict((conflict) =>
        conflict.columns(keyColumns).doUpdateSet((is) => ({
          status: is.ref('excluded.status'),
          reason: is.ref('excluded.reason'),
          fault: is.ref('excluded.fault'),
          attempts: is.ref('excluded.attempts'),
          updated_at: is.ref('excluded.updated_at'),
          doubts: is.ref('excluded.doubts'),
          not_before: is.ref('excluded.not_before'),
        })),
      )
      .execute();
  }
}

function toRow(receipt: Receipt): RelayTables['delivery_receipts'] {
  return {
    server_id: receipt.serverId,
    notification_id: receipt.notificationId,
    relay_device_id: receipt.relayDeviceId,
    push_account_id: receipt.addressee,
    status: receipt.status,
    reason: receipt.reason ?? null,
    fault: receipt.fault ?? null,
    attempts: receipt.attempts,
    updated_at: receipt.updatedAt,
    doubts: receipt.doubts ?? 0,
    not_before: receipt.notBefore ?? null,
  };
}

function toReceipt(row: Selectable<RelayTables['delivery_receipts']>): Receipt {
  return {
    serverId: row.server_id,
    notificationId: row.notification_id,
    relayDeviceId: row.relay_device_id,
    addressee: row.push_account_id,
    status: deliveryStatuses.find((status) => status === row.status) ?? 'rejected',
    reason: row.reason ?? undefined,
    fault: deliveryFaults.find((fault) => fault === row.fault),
    attempts: row.attempts,
    updatedAt: row.updated_at,
    doubts: row.doubts,
    notBefore: row.not_before ?? undefined,
  };
}
