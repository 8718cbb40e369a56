import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { Agent, type buildConnector, Pool } from 'undici';
import { authoritiesSetting } from '../../../network/outgoing-authorities.js';
import type { Delivery } from '../../delivery.js';
import { connectThrough } from '../connect-through.js';
import type { HttpProxy } from '../http-proxy.js';
import { ReachLog } from '../reach-log.js';
import { SendGate } from '../send-gate.js';
import { StaleConnections } from '../stale-connections.js';
import type { SendOptions, UnansweredReason, VendorAnswer, VendorSender } from '../vendor-sender.js';
import type { FcmApp } from './app.js';
import { buildFcmMessage } from './message.js';
import { readFcmRefusal } from './read-refusal.js';
import { AccessToken } from './token.js';

export interface FcmSenderOptions {
  readonly app: FcmApp;
  readonly baseUrl: string;
  /** PEM of the trusted certificate authorities; the system's if `undefined`. */
  readonly ca?: string | string[] | undefined;
  readonly clock: Clock;
  /** Timeout of one request. Google recommends at least ten seconds. */
  readonly timeoutMilliseconds: number;
  readonly log: Log;
  /** Default: connects without a proxy. */
  readonly proxy?: HttpProxy | undefined;
}

const maximumConnections = 256;
const connectTimeoutMilliseconds = 10_000;
const timeouts: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const unseen: ReadonlySet<UnansweredReason> = new Set(['NOT_CONNECTED', 'NOT_PROCESSED']);
const overloaded: VendorAnswer = { kind: 'unanswered', why: 'OVERLOADED' };

/**
 * Sends over FCM HTTP v1 with one service account: one message per request, over keep-alive connections.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send
 */
export class FcmSender implements VendorSender {
  readonly hostStates = [];
  readonly #options: FcmSenderOptions;
  readonly #path: string;
  readonly #reach: ReachLog;
  readonly #gate: SendGate;
  readonly #staleConnections = new StaleConnections();
  readonly #pool: Pool;
  /** Pool for resends. Opens a new connection for each request, because other idle connections may also be stale. */
  readonly #freshPool: Pool;
  /** Errors that occurred while connecting (DNS, TCP, TLS), so that the request was not sent. */
  readonly #connectionErrors = new WeakSet<Error>();
  readonly #oauthAgent: Agent;
  readonly #accessToken: AccessToken;
  #refused: string | undefined;

  constructor(options: FcmSenderOptions) {
    this.#options = options;
    const { app, baseUrl, clock, log } = options;
    const { origin, pathname } = new URL(baseUrl);
    this.#path = `${pathname.replace(/\/$/, '')}/v1/projects/${encodeURIComponent(app.projectId)}/messages:send`;
    this.#reach = new ReachLog(log, origin, authoritiesSetting);
    this.#gate = new SendGate(maximumConnections, clock);
    this.#pool = this.#openPool(origin);
    this.#freshPool = this.#openPool(origin);
    this.#oauthAgent = new Agent({ connections: 1, connect: this.#connector });
    this.#accessToken = new AccessToken({
      app,
      clock,
      dispatcher: this.#oauthAgent,
      reach: new ReachLog(log, app.tokenUri, authoritiesSetting),
    });
  }

  async send(delivery: Delivery, options: SendOptions): Promise<VendorAnswer> {
    const { serverId } = delivery.notification;
    const admission = this.#gate.enter(options.notAfter, serverId);
    if (admission !== true && !(await admission)) return overloaded;
    try {
      return await this.#send(delivery, options);
    } finally {
      this.#gate.leave(serverId);
    }
  }

  /** The current time, because Google issues a new access token at any time. */
  get renewableAt(): number {
    return this.#options.clock();
  }

  async refreshCredential(): Promise<void> {
    if (this.#refused !== undefined) this.#accessToken.forget(this.#refused);
    await this.#accessToken.get();
  }

  async close(deadlineMilliseconds: number): Promise<void> {
    const pools = [this.#pool, this.#freshPool];
    const deadline = setTimeout(() => pools.map((pool) => pool.destroy()), deadlineMilliseconds);
    await Promise.all(pools.map((pool) => pool.close()));
    clearTimeout(deadline);
    this.#staleConnections.close();
    await this.#oauthAgent.destroy();
  }

  get #connector(): buildConnector.connector {
    const { ca, proxy } = this.#options;
    const tls = ca === undefined ? {} : { ca };
    return connectThrough(proxy, { timeout: connectTimeoutMilliseconds, ...tls });
  }

  #openPool(origin: string): Pool {
    const { timeoutMilliseconds } = this.#options;
    const pool = new Pool(origin, {
      connections: maximumConnections,
      headersTimeout: timeoutMilliseconds,
      bodyTimeout: timeoutMilliseconds,
      connect: this.#staleConnections.watching(this.#connector),
    });
    pool.on('connectionError', (_origin, _targets, error) => this.#connectionErrors.add(error));
    return pool;
  }

  async #send(delivery: Delivery, { notAfter, isValidateOnly }: SendOptions): Promise<VendorAnswer> {
    const { app, clock } = this.#options;
    let accessToken = this.#accessToken.peek();
    if (accessToken === undefined) {
      const result = await this.#accessToken.get();
      if (result.kind === 'failed') return result.answer;
      accessToken = result.accessToken;
    }
    // The deadline may have passed while the access token was fetched.
    if (clock() > notAfter) return overloaded;
    const body = buildFcmMessage(delivery, { now: clock(), app, isValidateOnly });
    const first = await this.#post(accessToken, body);
    const isUnseen = first.kind === 'unanswered' && unseen.has(first.why);
    const answer =
      isUnseen && clock() <= notAfter ? await this.#post(accessToken, body, { isResend: true }) : first;
    if (answer.kind === 'refused' && answer.httpStatus === 401) this.#refused = accessToken;
    return answer;
  }

  /** Sends one message once. Never rejects. */
  async #post(accessToken: string, body: string, { isResend = false } = {}): Promise<VendorAnswer> {
    try {
      const response = await (isResend ? this.#freshPool : this.#pool).request({
        method: 'POST',
        path: this.#path,
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body,
        reset: isResend,
      });
      this.#reach.worked();
      if (response.statusCode !== 200) return await readFcmRefusal(response);
      await response.body.dump();
      return { kind: 'accepted' };
    } catch (error) {
      if (this.#connectionErrors.has(error as Error)) {
        this.#reach.failed(error);
        return { kind: 'unanswered', why: 'NOT_CONNECTED' };
      }
      if (this.#staleConnections.caused(error)) return { kind: 'unanswered', why: 'NOT_PROCESSED' };
      const isTimeout = timeouts.has((error as NodeJS.ErrnoException).code);
      return { kind: 'unanswered', why: isTimeout ? 'TIMED_OUT' : 'BROKEN_OFF' };
    }
  }
}
