import { currentTraceparent, inSpanOf } from '@waxwing/service/tracing';
import type { ServerContext } from '../../context.js';
import type { ServerTransaction } from '../../tables.js';

/** A kind of background job that runs in one transaction, after the transaction that enqueued it. */
export interface TransactionJob<Payload extends object> {
  readonly kind: string;
  /** Maximum concurrent runs per process. */
  readonly concurrency: number;
  /** Time after which the job is dropped. */
  readonly lifetimeMilliseconds: number;
  /** Phantom field for the type of the job's payload. It is never set. */
  readonly payload?: Payload;
}

export const oneDay = 24 * 60 * 60_000;

/** The stored form of a payload that was enqueued within a trace. Without a trace, the payload is stored unchanged. */
interface Traced<Payload> {
  readonly traceparent: string;
  readonly payload: Payload;
}

/** Enqueues a job, which runs only if the transaction commits. */
export async function enqueueJob<Payload extends object>(
  transaction: ServerTransaction,
  { clock, database }: Pick<ServerContext, 'clock' | 'database'>,
  { kind, lifetimeMilliseconds }: TransactionJob<Payload>,
  payload: Payload,
): Promise<void> {
  const traceparent = currentTraceparent();
  const stored: Traced<Payload> | Payload = traceparent === undefined ? payload : { traceparent, payload };
  await database.jobs.enqueue(transaction, {
    kind,
    payload: JSON.stringify(stored),
    giveUpAt: clock() + lifetimeMilliseconds,
  });
}

/** Registers a job's handler. Call this before starting the database's jobs. */
export function handleJob<Payload extends object>(
  { database }: Pick<ServerContext, 'database'>,
  { kind, concurrency }: TransactionJob<Payload>,
  apply: (transaction: ServerTransaction, payload: Payload, giveUpAt: number) => Promise<void>,
): void {
  database.jobs.handle(kind, {
    concurrency,
    giveUp: () => async () => undefined,
    run: async ({ payload: text, giveUpAt }) => {
      const stored = JSON.parse(text) as Traced<Payload> | Payload;
      const { traceparent, payload } =
        'traceparent' in stored ? stored : { traceparent: undefined, payload: stored };
      return {
        kind: 'done',
        apply: (transaction) =>
          inSpanOf(traceparent, kind, { kind: 'consumer' }, () => apply(transaction, payload, giveUpAt)),
      };
    },
  });
}
