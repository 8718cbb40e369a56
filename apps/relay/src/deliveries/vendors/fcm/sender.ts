import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { Agent } from 'undici';
import type { Delivery } from '../../delivery.js';
import { ReachLog } from '../reach-log.js';
import type { SendOptions, VendorAnswer, VendorSender } from '../vendor-sender.js';
import type { FcmApp } from './app.js';
import { buildFcmMessage } from './message.js';
import { FcmPool } from './pool.js';
import { AccessToken } from './token.js';

export interface FcmSenderOptions {
  readonly app: FcmApp;
  readonly baseUrl: string;
  readonly clock: Clock;
  /** Google asks for ten seconds at least. */
  readonly timeoutMilliseconds: number;
  readonly log: Log;
}

const overloaded: VendorAnswer = { kind: 'unanswered', why: 'OVERLOADED' };

/**
 * FCM HTTP v1 with one service account: one message a request.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send
 */
export class FcmSender implements VendorSender {
  readonly #options: FcmSenderOptions;
  readonly #pool: FcmPool;
  readonly #oauthAgent = new Agent({ connections: 1 });
  readonly #accessToken: AccessToken;
  #refused: string | undefined;

  constructor(options: FcmSenderOptions) {
    this.#options = options;
    const { app, baseUrl, clock, timeoutMilliseconds, log } = options;
    const { origin, pathname } = new URL(baseUrl);
    const path = `${pathname.replace(/\/$/, '')}/v1/projects/${encodeURIComponent(app.projectId)}/messages:send`;
    this.#pool = new FcmPool({ origin, path, clock, timeoutMilliseconds, reach: new ReachLog(log, origin) });
    this.#accessToken = new AccessToken({
      ...{ app, clock, dispatcher: this.#oauthAgent },
      reach: new ReachLog(log, app.tokenUri),
    });
  }

  async send(delivery: Delivery, options: SendOptions): Promise<VendorAnswer> {
    const { gate } = this.#pool;
    const admission = gate.enter(options.notAfter);
    if (admission !== true && !(await admission)) return overloaded;
    try {
      return await this.#send(delivery, options);
    } finally {
      gate.leave();
    }
  }

  /** Google makes a new access token whenever it is asked. */
  get renewableAt(): number {
    return this.#options.clock();
  }

  async refreshCredential(): Promise<void> {
    if (this.#refused !== undefined) this.#accessToken.forget(this.#refused);
    await this.#accessToken.get();
  }

  async close(deadlineMilliseconds: number): Promise<void> {
    await this.#pool.close(deadlineMilliseconds);
    await this.#oauthAgent.destroy();
  }

  async #send(delivery: Delivery, { notAfter, isValidateOnly }: SendOptions): Promise<VendorAnswer> {
    const { app, clock } = this.#options;
    let accessToken = this.#accessToken.peek();
    if (accessToken === undefined) {
      const result = await this.#accessToken.get();
      if (result.kind === 'failed') return result.answer;
      accessToken = result.accessToken;
    }
    // Google may have taken its time for the access token.
    if (clock() > notAfter) return overloaded;
    const body = buildFcmMessage(delivery, { now: clock(), addressBy: app.addressBy, isValidateOnly });
    const first = await this.#pool.post(accessToken, body);
    const isUnseen = first.kind === 'unanswered' && first.why === 'NOT_CONNECTED';
    const answer = isUnseen && clock() <= notAfter ? await this.#pool.post(accessToken, body) : first;
    if (answer.kind === 'refused' && answer.httpStatus === 401) this.#refused = accessToken;
    return answer;
  }
}
