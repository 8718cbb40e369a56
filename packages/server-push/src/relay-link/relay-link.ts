import {
  encodeRelayNotifyRequest,
  type JsonObject,
  type KeyListAnswer,
  keyListAnswer,
  keyListPath,
  type RelayAppsAnswer,
  type RelayNotifyAnyAnswer,
  relayAppsAnswer,
  relayAppsPath,
  relayNotifyAnyAnswer,
  relayNotifyPath,
  relayRegisterManyPath,
  relayRegisterPath,
  relayRemoveAnswer,
  relayRemovePath,
  relayRevokeAnswer,
  relayRevokePath,
  type SealedRevocationOnWire,
  serverAnalyticsPath,
  serverRegisterPath,
  type WrittenPushRequest,
} from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import { readAnswerText } from '@waxwing/service/http';
import type { Clock, ConnectTrouble } from '@waxwing/service/lifecycle';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import type { RelayAccount } from '../server-push-options.js';
import type { LinkMonitor } from './link-monitor.js';
import type { RealmPushStatusRecord } from './realm-push-status.js';
import type { RegistrationFormat, RegistrationResult } from './registration-format.js';
import {
  interpretAnswer,
  interpretRefusal,
  type ReceivedAnswer,
  type RelayOutcome,
  type RelayRefusal,
} from './relay-answer.js';
import { RelayKind } from './relay-kind.js';
import { formOf, jsonOf, type RequestContent } from './request-content.js';
import {
  analyticsAnswer,
  encodeRegistration,
  joinAnswer,
  type ServerRegistration,
} from './server-registration.js';
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

/** A received HTTP answer and its `Date` header. */
export interface ProbeAnswer extends ReceivedAnswer {
  readonly date: string | undefined;
}

interface Exchange {
  readonly path: string;
  /** Asks the relay to answer from its database, not from a cache. */
  readonly isFresh?: boolean;
  /** Sends no credentials: the operation needs none. */
  readonly isAnonymous?: true;
  /** POST body. Absent: a GET. */
  readonly content?: RequestContent;
  readonly signal?: AbortSignal | undefined;
  /**
   * Statuses that mean that the relay does not know the operation. They are final and say nothing about the health of
   * the link.
   */
  readonly finalStatuses?: readonly number[];
}

/** Error code of an operation that the relay does not know. */
export const unknownRequest = 'NOT_FOUND';

const notKnown: RelayRefusal = {
  kind: 'refused-for-good',
  code: unknownRequest,
  message: 'the relay does not know the request',
};

const maximumAnswerBytes = 256 * 1024;
const userAgent = 'waxwing-server/0.1.0';

/** HTTP client of the relay, with this server's credentials. Returns failures as outcomes, never throws them. */
export class RelayLink {
  readonly kind = new RelayKind();
  readonly #options: RelayLinkOptions;
  #serverKey: Secret<string>;

  constructor(options: RelayLinkOptions) {
    this.#options = options;
    this.#serverKey = options.relay.serverKey;
  }

  /** Uses another key from the next request on. */
  useServerKey(serverKey: Secret<string>): void {
    this.#serverKey = serverKey;
  }

  /** Forwards a sealed registration. */
  async register<Registration, Registered>(
    format: RegistrationFormat<Registration, Registered>,
    registration: Registration,
    signal?: AbortSignal,
  ): Promise<RelayOutcome<Registered>> {
    const content = formOf(format.form(this.#options.realmUuid, registration));
    return this.#askAsServer({ path: relayRegisterPath, content, signal }, format.answer);
  }

  /**
   * Forwards several sealed registrations in one request. The answer has one outcome for each, in order. A relay that
   * does not know the request (stock ones do not) refuses it for good with {@link unknownRequest}.
   */
  async registerMany<Registration, Registered>(
    format: RegistrationFormat<Registration, Registered>,
    registrations: readonly Registration[],
    signal?: AbortSignal,
  ): Promise<RelayOutcome<readonly RelayOutcome<Registered>[]>> {
    const content = jsonOf(format.body(this.#options.realmUuid, registrations));
    const exchange = { path: relayRegisterManyPath, content, signal, finalStatuses: [404, 405] };
    const outcome = await this.#askAsServer(exchange, format.manyAnswer(registrations.length));
    if (outcome.kind !== 'accepted') return outcome;
    return { kind: 'accepted', answer: outcome.answer.results.map(interpretResult) };
  }

  /**
   * Asks the relay to deliver notifications. The caller keeps the request within the relay's body limit, and names one
   * device unless {@link RelayKind.isOurs}.
   */
  async notify(
    requests: readonly WrittenPushRequest[],
    signal?: AbortSignal,
  ): Promise<RelayOutcome<RelayNotifyAnyAnswer>> {
    const content = jsonOf(encodeRelayNotifyRequest(this.#options.realmUuid, requests));
    const outcome = await this.#askAsServer({ path: relayNotifyPath, content, signal }, relayNotifyAnyAnswer);
    if (outcome.kind === 'accepted') this.kind.learn(outcome.answer.results === undefined ? 'stock' : 'ours');
    await this.#options.pushStatus.report(outcome);
    return outcome;
  }

  /**
   * Asks the relay to delete devices; `encode` builds the form. A relay that does not know the request (stock ones do
   * not) refuses it for good, which says nothing about the health of the link.
   */
  async remove(
    encode: (realmUuid: string) => Record<string, string>,
    signal?: AbortSignal,
  ): Promise<RelayOutcome<unknown>> {
    if (this.kind.isStock) return notKnown;
    const content = formOf(encode(this.#options.realmUuid));
    const exchange = { path: relayRemovePath, content, signal, finalStatuses: [400, 404, 405] };
    return this.#askAsServer(exchange, relayRemoveAnswer);
  }

  /** Passes a phone's sealed revocation on. A relay that does not know the request refuses it for good. */
  async revoke(revocation: SealedRevocationOnWire, signal?: AbortSignal): Promise<RelayOutcome<unknown>> {
    if (this.kind.isStock) return notKnown;
    const { bouncer_public_key, encrypted_push_revocation } = revocation;
    const content = formOf({ bouncer_public_key, encrypted_push_revocation });
    const exchange = { path: relayRevokePath, content, signal, finalStatuses: [400, 404, 405] };
    return this.#askAsServer(exchange, relayRevokeAnswer);
  }

  /**
   * Sends a notify request without notifications and returns the raw answer, uninterpreted and not reported to the
   * monitor.
   */
  async probe(): Promise<ProbeAnswer | ConnectTrouble> {
    const content = jsonOf(encodeRelayNotifyRequest(this.#options.realmUuid, []));
    try {
      return await this.#exchange({ path: relayNotifyPath, isFresh: true, content });
    } catch (error) {
      return findRelayTrouble(error, this.#way);
    }
  }

  /** Registers this server with an id and a key of its own choice. Idempotent for the same id and key. */
  async join(registration: ServerRegistration): Promise<RelayOutcome<{ readonly created: boolean }>> {
    const account = { serverId: this.#options.relay.serverId, serverKey: this.#serverKey };
    const content = formOf(encodeRegistration(account, registration));
    const exchange = {
      path: serverRegisterPath,
      content,
      isAnonymous: true,
      finalStatuses: [404, 405],
    } as const;
    return this.#ask(exchange, joinAnswer);
  }

  /** Reports the server's organization, so that the relay knows it as this server's. */
  async reportRealm(realm: JsonObject): Promise<RelayOutcome<unknown>> {
    const realms = jsonOf([realm]).body;
    const content = formOf({ realm_counts: '[]', installation_counts: '[]', realms });
    return this.#ask({ path: serverAnalyticsPath, content }, analyticsAnswer);
  }

  /** Asks which of the organization's apps the relay can deliver to. Stock relays do not know the request. */
  async fetchApps(): Promise<RelayOutcome<RelayAppsAnswer>> {
    const path = `${relayAppsPath}?realm_uuid=${this.#options.realmUuid}`;
    return this.#ask({ path, finalStatuses: [404, 405] }, relayAppsAnswer);
  }

  /**
   * Fetches the relay's signed key list; sends no credentials. A relay without key lists (stock ones have none) refuses it
   * for good.
   */
  async fetchKeyList(): Promise<RelayOutcome<KeyListAnswer>> {
    return this.#ask({ path: keyListPath, isAnonymous: true, finalStatuses: [404, 405] }, keyListAnswer);
  }

  async #askAsServer<Schema extends z.ZodType>(
    exchange: Exchange,
    schema: Schema,
  ): Promise<RelayOutcome<z.infer<Schema>>> {
    const outcome = await this.#ask(exchange, schema);
    const isReporting = exchange.finalStatuses === undefined || outcome.kind !== 'refused-for-good';
    // An abort by this server says nothing about the relay.
    if (isReporting && exchange.signal?.aborted !== true) await this.#options.monitor.report(outcome);
    return outcome;
  }

  async #ask<Schema extends z.ZodType>(
    exchange: Exchange,
    schema: Schema,
  ): Promise<RelayOutcome<z.infer<Schema>>> {
    let received: ReceivedAnswer;
    try {
      received = await this.#exchange(exchange);
    } catch (error) {
      return unreachableRelay(error, this.#way);
    }
    if (exchange.finalStatuses?.includes(received.status) === true) return notKnown;
    return interpretAnswer(received, schema, this.#options.clock());
  }

  #exchange(exchange: Exchange): Promise<ProbeAnswer> {
    return whileAllowed(exchange.signal, this.#options.timeoutMilliseconds, (allowed) =>
      this.#request(exchange, allowed),
    );
  }

  async #request(
    { path, isAnonymous, isFresh, content }: Exchange,
    signal: AbortSignal,
  ): Promise<ProbeAnswer> {
    const { relay, dispatcher } = this.#options;
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

function interpretResult<Registered>(result: RegistrationResult<Registered>): RelayOutcome<Registered> {
  return result.result === 'success'
    ? { kind: 'accepted', answer: result.registered }
    : interpretRefusal(result);
}
