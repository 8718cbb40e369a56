import { FairLine } from '../../lifecycle/fair-line.js';
import { rateLimitHit } from './rate-limit-hit.js';

/** How long a line may become, and how it refuses those behind its end. */
interface LineLimits {
  readonly maximumAtOnce: number;
  readonly maximumWaiting: number;
  readonly maximumWaitingPerSender: number;
  /** What is waited for, as a refusal says it. */
  readonly what: string;
}

interface Waiter {
  readonly sender: string;
  /** Aborted when nobody waits for the work any more. */
  readonly signal: AbortSignal;
}

const retryAfterSeconds = 2;

/** A line in which work waits, of all senders in turn; it does not become long. */
export class BoundedLine {
  readonly #line: FairLine;
  readonly #limits: LineLimits;

  constructor(limits: LineLimits) {
    this.#limits = limits;
    this.#line = new FairLine(limits.maximumAtOnce);
  }

  /**
   * What `work` resolves or rejects with, once it has had its turn; it is not begun where `signal` is aborted by then.
   * @throws ProtocolError RATE_LIMIT_HIT where the sender, or everybody together, has too many in the line.
   */
  async run<Result>({ sender, signal }: Waiter, work: () => Promise<Result>): Promise<Result> {
    const { maximumWaiting, maximumWaitingPerSender, what } = this.#limits;
    if (this.#line.waitingOf(sender) >= maximumWaitingPerSender || this.#line.waiting >= maximumWaiting) {
      throw rateLimitHit(what, retryAfterSeconds);
    }
    return this.#line.run(sender, async () => {
      signal.throwIfAborted();
      return work();
    });
  }
}
