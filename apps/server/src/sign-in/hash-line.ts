import { rateLimitHit } from '@waxwing/server-push';
import { FairLine } from '@waxwing/service/lifecycle';

/** Each takes a thread and much memory; the process has other work for the rest of them. */
const maximumAtOnce = 2;
const maximumWaiting = 64;
const maximumWaitingPerSender = 4;
const retryAfterSeconds = 2;

/** The line in which passwords wait to be checked; it does not become long. */
export class HashLine {
  readonly #line = new FairLine(maximumAtOnce);

  /**
   * What `work` resolves or rejects with, once it has had its turn.
   * @throws ProtocolError RATE_LIMIT_HIT where the sender, or everybody together, has too many in the line.
   */
  async run<Result>(sender: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#line.waitingOf(sender) >= maximumWaitingPerSender || this.#line.waiting >= maximumWaiting) {
      throw rateLimitHit('sign-in', retryAfterSeconds);
    }
    return this.#line.run(sender, work);
  }
}
