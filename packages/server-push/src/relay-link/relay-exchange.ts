import type { Secret } from '@waxwing/service/config';
import { readAnswerText } from '@waxwing/service/http';
import type { Clock, ConnectTrouble } from '@waxwing/service/lifecycle';
import { currentTraceparent, inSpanOf } from '@waxwing/service/tracing';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import type { RelayAccount } from '../server-push-options.js';
import type { LinkMonitor } from './link-monitor.js';
import type { RealmPushStatusRecord } from './realm-push-status.js';
import {
  interpretAnswer,
  isUnknownOperation,
  notKnown,
  type ReceivedAnswer,
  type RelayOutcome,
} from './relay-answer.js';
import type { RequestContent } from './request-content.js';
import { findRelayTrouble, unreachableRelay, type WayToRelay } from './unreachable-relay.js';
import { whileAllowed } from './while-allowed.js';

export interface RelayLinkOptions {
  readonly relay: Extract<RelayAccount, { kind: 'configured' }>;
  readonly realmUuid: string;
  readonly dispatcher: Dispatcher;
  readonly timeoutMilliseconds: number;
  readonly clock: Clock;
  readonly monitor: Pick<LinkMonitor, 'report'>;
  readonly pushStatus: Pick<RealmPushStatusRecord, 'report'>;
}

/** A received HTTP response, with its `Date` header. */
export interface ProbeAnswer extends ReceivedAnswer {
  readonly date: string | undefined;
}

export interface Exchange {
  readonly path: string;
  /** Requests a response from the relay's database, not from a cache. */
  readonly isFresh?: boolean;
  /** If set, sends no credentials, because the operation needs none. */
  readonly isAnonymous?: true;
  /** POST body. If absent, the request is a GET. */
  readonly content?: RequestContent;
  readonly signal?: AbortSignal | undefined;
  /**
   * Statuses that a relay uses to report an unknown operation. They are final, and do not affect the recorded health of
   * the link.
   */
  readonly finalStatuses?: readonly number[];
  /**
   * Whether `finalStatuses` apply only to a response that {@link isUnknownOperation} accepts. Set if the relay is known
   * to be this project's relay.
   */
  readonly isFormRequired?: boolean;
}

const maximumAnswerBytes = 256 * 1024;
const userAgent = 'waxwing-server/0.1.0';

/** Sends requests to the relay, with this server's credentials, and receives the responses. */
export class RelayExchange {
  readonly #options: RelayLinkOptions;
  #serverKey: Secret<string>;

  constructor(options: RelayLinkOptions) {
    this.#options = options;
    this.#serverKey = options.relay.serverKey;
  }

  /** This server's id and its current key. */
  get credentials(): { readonly serverId: string; readonly serverKey: Secret<string> } {
    return { serverId: this.#options.relay.serverId, serverKey: this.#serverKey };
  }

  /** Uses a different key, starting with the next request. */
  useServerKey(serverKey: Secret<string>): void {
    this.#serverKey = serverKey;
  }

  /** Sends a request, and reports the outcome to the link's monitor. */
  async askAsServer<Schema extends z.ZodType>(
    exchange: Exchange,
    schema: Schema,
  ): Promise<RelayOutcome<z.infer<Schema>>> {
    const outcome = await this.ask(exchange, schema);
    const isReporting = exchange.finalStatuses === undefined || outcome.kind !== 'refused-for-good';
    // A request that this server aborted does not reflect the state of the relay.
    if (isReporting && exchange.signal?.aborted !== true) await this.#options.monitor.report(outcome);
    return outcome;
  }

  /** Sends a request, and interprets the response. */
  async ask<Schema extends z.ZodType>(
    exchange: Exchange,
    schema: Schema,
  ): Promise<RelayOutcome<z.infer<Schema>>> {
    let received: ReceivedAnswer;
    try {
      received = await this.#exchange(exchange);
    } catch (error) {
      return unreachableRelay(error, this.#way);
    }
    const isFinal = exchange.finalStatuses?.includes(received.status) === true;
    if (isFinal && (!exchange.isFormRequired || isUnknownOperation(received))) return notKnown;
    return interpretAnswer(received, schema, this.#options.clock());
  }

  /** Sends a request. Returns the raw response, or the reason why there is none. */
  async probe(exchange: Exchange): Promise<ProbeAnswer | ConnectTrouble> {
    try {
      return await this.#exchange(exchange);
    } catch (error) {
      return findRelayTrouble(error, this.#way);
    }
  }

  #exchange(exchange: Exchange): Promise<ProbeAnswer> {
    const ask = (allowed: AbortSignal) =>
      inSpanOf(currentTraceparent(), `relay ${exchange.path}`, { kind: 'client' }, () =>
        this.#request(exchange, allowed),
      );
    return whileAllowed(exchange.signal, this.#options.timeoutMilliseconds, ask);
  }

  async #request(
    { path, isAnonymous, isFresh, content }: Exchange,
    signal: AbortSignal,
  ): Promise<ProbeAnswer> {
    const { relay, dispatcher } = this.#options;
    const traceparent = currentTraceparent();
    const { origin, pathname, search } = new URL(relay.url + path);
    const answer = await dispatcher.request({
      origin,
      path: pathname + search,
      method: content === undefined ? 'GET' : 'POST',
      headers: {
        'user-agent': userAgent,
        accept: 'application/json',
        ...(isFresh && { 'cache-control': 'no-cache' }),
        ...(!isAnonymous && { authorization: this.#authorization() }),
        ...(content && { 'content-type': content.type }),
        ...(traceparent && { traceparent }),
      },
      body: content?.body ?? null,
      signal,
    });
    const { 'retry-after': retryAfter, date } = answer.headers;
    return {
      date: Array.isArray(date) ? date[0] : date,
      status: answer.statusCode,
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      body: await readAnswerText(answer.body, maximumAnswerBytes),
    };
  }

  get #way(): WayToRelay {
    const { relay, timeoutMilliseconds } = this.#options;
    return { url: relay.url, network: relay.network ?? {}, timeoutMilliseconds };
  }

  #authorization(): string {
    const pair = Buffer.from(`${this.#options.relay.serverId}:${this.#serverKey.reveal()}`, 'utf8');
    return `Basic ${pair.toString('base64')}`;
  }
}
