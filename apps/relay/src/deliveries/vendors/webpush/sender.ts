import { parseWebPushToken, type WebPushSubscription } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Delivery } from '../../delivery.js';
import type { HttpProxy } from '../http-proxy.js';
import type { PushServiceState, SendOptions, VendorAnswer, VendorSender } from '../vendor-sender.js';
import type { WebPushApp } from './app.js';
import { ForbiddenAddressError, type ResolveName } from './checked-lookup.js';
import { type AllowedEndpoint, checkEndpoint } from './endpoint-rules.js';
import { buildWebPushMessage, type WebPushMessage } from './message.js';
import type { PushService } from './push-service.js';
import { PushServices } from './push-services.js';
import { readWebPushAnswer, type WebPushAnswer } from './read-refusal.js';
import { type VapidSigner, VapidToken } from './token.js';

export interface WebPushSenderOptions {
  readonly app: WebPushApp;
  readonly signer: VapidSigner;
  /** See `EndpointRules`. */
  readonly privateHosts: ReadonlySet<string>;
  /** PEM of the trusted certificate authorities; the system's if `undefined`. */
  readonly ca?: string | string[] | undefined;
  readonly clock: Clock;
  readonly timeoutMilliseconds: number;
  /** Default: connects without a proxy. */
  readonly proxy?: HttpProxy | undefined;
  /** Default: {@link resolvePublicName}. */
  readonly resolve?: ResolveName | undefined;
}

const timeouts: ReadonlySet<unknown> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'TimeoutError',
]);
const overloaded: VendorAnswer = { kind: 'unanswered', why: 'OVERLOADED' };
const refusedEndpoint: VendorAnswer = { kind: 'unanswered', why: 'ENDPOINT_REFUSED' };

/**
 * Sends to push services (https://www.rfc-editor.org/rfc/rfc8030) with one VAPID key pair. Phones choose the hosts, so
 * the sender connects only to public addresses or the operator's private hosts, follows no redirect, and limits
 * requests, connections and failures by host.
 */
export class WebPushSender implements VendorSender {
  readonly #options: WebPushSenderOptions;
  readonly #services: PushServices;
  readonly #token: VapidToken;

  constructor(options: WebPushSenderOptions) {
    this.#options = options;
    const { app, signer, clock, ca, proxy, timeoutMilliseconds, resolve } = options;
    this.#services = new PushServices({ clock, ca, proxy, timeoutMilliseconds, resolve });
    this.#token = new VapidToken({ app, signer, clock });
  }

  async send(delivery: Delivery, options: SendOptions): Promise<VendorAnswer> {
    const { app, privateHosts, clock } = this.#options;
    const subscription = parseWebPushToken(delivery.device.target.token);
    if (subscription === undefined) return refusedEndpoint;
    const endpoint = checkEndpoint(subscription.endpoint, { hosts: app.hosts, privateHosts });
    if (typeof endpoint === 'string') return { kind: 'unanswered', why: endpoint };
    // Called before a slot is acquired: it throws if the key is missing, which says nothing about the host.
    const authorization = this.#token.headerFor(endpoint.url.origin);
    const service = this.#services.of(endpoint);
    return this.#admitted(service, delivery, options, async () => {
      const message = buildMessage(delivery, subscription, clock());
      if (message === undefined) return unanswered(refusedEndpoint);
      const { headers, body } = message;
      const signed = { headers: { ...headers, authorization }, body };
      return this.#sendTo(service, endpoint, signed, options);
    });
  }

  /** The current time, because a VAPID token can be signed at any time. */
  get renewableAt(): number {
    return this.#options.clock();
  }

  get hostStates(): readonly PushServiceState[] {
    return this.#services.states;
  }

  async refreshCredential(): Promise<void> {
    this.#token.forgetAll();
  }

  close(deadlineMilliseconds: number): Promise<void> {
    return this.#services.close(deadlineMilliseconds);
  }

  /** Runs `send` within the concurrency limits of the host and of the sender, unless the host's breaker is open. */
  async #admitted(
    service: PushService,
    { notification: { serverId } }: Delivery,
    { notAfter }: SendOptions,
    send: () => Promise<WebPushAnswer>,
  ): Promise<VendorAnswer> {
    // An open breaker refuses the request before it waits for a slot, and again after it has waited.
    if (service.breaker.refuses) return overloaded;
    if (!(await service.gate.enter(notAfter, serverId))) return overloaded;
    const shared = this.#services.sharedGate(service);
    try {
      if (!(await shared.enter(notAfter, serverId))) return overloaded;
      try {
        return service.breaker.admit() ? settled(service, await send()) : overloaded;
      } finally {
        shared.leave(serverId);
      }
    } finally {
      service.gate.leave(serverId);
    }
  }

  async #sendTo(
    service: PushService,
    endpoint: AllowedEndpoint,
    message: WebPushMessage,
    { notAfter }: SendOptions,
  ): Promise<WebPushAnswer> {
    const first = await this.#post(service, endpoint, message);
    const isStale = first.answer.kind === 'unanswered' && first.answer.why === 'NOT_PROCESSED';
    if (!isStale || this.#options.clock() > notAfter) return first;
    return this.#post(service, endpoint, message, { isResend: true });
  }

  /** Sends one message once. Never rejects. */
  async #post(
    service: PushService,
    { url }: AllowedEndpoint,
    { headers, body }: WebPushMessage,
    { isResend = false } = {},
  ): Promise<WebPushAnswer> {
    try {
      const response = await service.request(
        {
          method: 'POST',
          path: `${url.pathname}${url.search}`,
          headers,
          body,
        },
        { isResend },
      );
      return await readWebPushAnswer(response);
    } catch (error) {
      return unanswered(this.#failureOf(service, error));
    }
  }

  /** Classifies the failure of a request without a response status. */
  #failureOf(service: PushService, error: unknown): VendorAnswer {
    if (error instanceof ForbiddenAddressError) return refusedEndpoint;
    const { code, name } = error as NodeJS.ErrnoException;
    // UND_ERR_CLOSED: while the request waited, the host was evicted as the least recently used.
    if (service.connectionErrors.has(error as Error) || code === 'UND_ERR_CLOSED') {
      return { kind: 'unanswered', why: 'NOT_CONNECTED' };
    }
    if (this.#services.wasStale(error)) return { kind: 'unanswered', why: 'NOT_PROCESSED' };
    const isTimeout = timeouts.has(code) || timeouts.has(name);
    return { kind: 'unanswered', why: isTimeout ? 'TIMED_OUT' : 'BROKEN_OFF' };
  }
}

/** The result of a request without a response status. */
function unanswered(answer: VendorAnswer): WebPushAnswer {
  return { answer, isComplete: false };
}

/** Reports a result to the host's breaker. An endpoint that the relay refuses says nothing about its host. */
function settled({ breaker }: PushService, { answer, isComplete }: WebPushAnswer): VendorAnswer {
  if (answer === refusedEndpoint) breaker.release();
  else breaker.settle(isComplete);
  return answer;
}

/** Returns `undefined` if the subscription's public key is not on the curve. */
function buildMessage(
  delivery: Delivery,
  subscription: WebPushSubscription,
  now: number,
): WebPushMessage | undefined {
  try {
    return buildWebPushMessage(delivery, subscription, now);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY') throw error;
    return undefined;
  }
}
