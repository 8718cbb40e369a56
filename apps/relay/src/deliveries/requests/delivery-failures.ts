import type { RelayDeviceId } from '@waxwing/protocol';
import { CauseLog, type Log } from '@waxwing/service/logging';

interface Failure {
  readonly step: 'try' | 'repeat' | 'late outcome';
  readonly reason: string;
}

/** Logs unexpected failures, such as database errors: the first immediately, and the others as one line per minute. */
export class DeliveryFailures {
  readonly #causes: CauseLog<Failure>;

  constructor(log: Log) {
    this.#causes = new CauseLog({
      log,
      words: { first: 'a delivery failed unexpectedly', more: 'more deliveries failed unexpectedly' },
      levelOf: () => 'error',
      other: ({ step }) => ({ step, reason: 'other' }),
    });
  }

  note(step: Failure['step'], err: unknown, device: RelayDeviceId): void {
    this.#causes.note({ step, reason: (err as Error).message }, { err, device });
  }

  /** Logs the number of failures since the last line. */
  flush(): void {
    this.#causes.flush();
  }
}
