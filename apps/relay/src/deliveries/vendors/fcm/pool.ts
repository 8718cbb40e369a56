import type { Clock } from '@waxwing/service/lifecycle';
import { Pool } from 'undici';
import type { ReachLog } from '../reach-log.js';
import type { VendorAnswer } from '../vendor-sender.js';
import { WaitingLine } from '../waiting-line.js';
import { readFcmRefusal } from './read-refusal.js';

export interface FcmPoolOptions {
  readonly origin: string;
  readonly path: string;
  readonly clock: Clock;
  readonly timeoutMilliseconds: number;
  readonly reach: ReachLog;
}

const maximumConnections = 256;
const connectTimeoutMilliseconds = 10_000;
const timeouts: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Connections to FCM for one project, kept for as long as they last, and the requests that wait for one. */
export class FcmPool {
  readonly gate: SendGate;
  readonly #options: FcmPoolOptions;
  readonly #pool: Pool;
  /** What kept a connection from being made, so that nothing went over it: DNS, TCP, TLS. */
  readonly #connectionErrors = new WeakSet<Error>();

  constructor(options: FcmPoolOptions) {
    this.#options = options;
    const { origin, clock, timeoutMilliseconds } = options;
    this.#pool = new Pool(origin, {
      connections: maximumConnections,
      headersTimeout: timeoutMilliseconds,
      bodyTimeout: timeoutMilliseconds,
      connect: { timeout: connectTimeoutMilliseconds },
    });
    this.#pool.on('connectionError', (_origin, _targets, error) => this.#connectionErrors.add(error));
    this.gate = new SendGate(maximumConnections, clock);
  }

  /** Sends one message once. Never rejects. */
  async post(accessToken: string, body: string): Promise<VendorAnswer> {
    const { path, reach } = this.#options;
    try {
      const response = await this.#pool.request({
        method: 'POST',
        path,
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body,
      });
      reach.worked();
      if (response.statusCode !== 200) return await readFcmRefusal(response);
      await response.body.dump();
      return { kind: 'accepted' };
    } catch (error) {
      if (this.#connectionErrors.has(error as Error)) {
        reach.failed(error);
        return { kind: 'unanswered', why: 'NOT_CONNECTED' };
      }
      const isTimeout = timeouts.has((error as NodeJS.ErrnoException).code);
      return { kind: 'unanswered', why: isTimeout ? 'TIMED_OUT' : 'BROKEN_OFF' };
    }
  }

  /** Waits for what is under way, at most `deadlineMilliseconds`, then drops every connection. */
  async close(deadlineMilliseconds: number): Promise<void> {
    const deadline = setTimeout(() => void this.#pool.destroy(), deadlineMilliseconds);
    await this.#pool.close();
    clearTimeout(deadline);
  }
}

interface Waiting {
  readonly notAfter: number;
  admit(isAdmitted: boolean): void;
}

/** Lets so many requests through at once; the others wait here, in order, until it is too late for them. */
export class SendGate {
  readonly #limit: number;
  readonly #clock: Clock;
  #underWay = 0;
  readonly #waiting = new WaitingLine<Waiting>();

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** True at once while there is room; otherwise a promise that is false when `notAfter` (Unix milliseconds) passed. */
  enter(notAfter: number): true | Promise<boolean> {
    if (this.#underWay < this.#limit) {
      this.#underWay += 1;
      return true;
    }
    return new Promise((admit) => this.#waiting.push({ notAfter, admit }));
  }

  leave(): void {
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      const isInTime = this.#clock() <= next.notAfter;
      next.admit(isInTime);
      if (isInTime) return;
    }
    this.#underWay -= 1;
  }
}
