import type { ServerContext } from '../context.js';
import type { ServerTransaction } from '../tables.js';

/** A kind of work that is done in one transaction, some time after another that wants it. */
export interface TransactionJob<Payload extends object> {
  readonly kind: string;
  /** How many of them run at once in a process. */
  readonly concurrency: number;
  /** It is of no use to anybody after that. */
  readonly lifetimeMilliseconds: number;
  /** What one has to know; says its type alone. */
  readonly payload?: Payload;
}

export const oneDay = 24 * 60 * 60_000;

/** Has it done once the transaction has ended, if it does so well. */
export async function enqueueJob<Payload extends object>(
  transaction: ServerTransaction,
  { clock, database }: Pick<ServerContext, 'clock' | 'database'>,
  { kind, lifetimeMilliseconds }: TransactionJob<Payload>,
  payload: Payload,
): Promise<void> {
  await database.jobs.enqueue(transaction, {
    kind,
    payload: JSON.stringify(payload),
    giveUpAt: clock() + lifetimeMilliseconds,
  });
}

/** Says who does it; call it before the database's jobs are started. */
export function handleJob<Payload extends object>(
  { database }: Pick<ServerContext, 'database'>,
  { kind, concurrency }: TransactionJob<Payload>,
  apply: (transaction: ServerTransaction, payload: Payload, giveUpAt: number) => Promise<void>,
): void {
  database.jobs.handle(kind, {
    concurrency,
    giveUp: () => async () => undefined,
    run: async ({ payload, giveUpAt }) => ({
      kind: 'done',
      apply: (transaction) => apply(transaction, JSON.parse(payload) as Payload, giveUpAt),
    }),
  });
}
