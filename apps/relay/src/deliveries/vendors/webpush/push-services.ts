import type { Clock } from '@waxwing/service/lifecycle';
import { LRUCache } from 'lru-cache';
import { buildConnector } from 'undici';
import { connectThrough } from '../connect-through.js';
import type { HttpProxy } from '../http-proxy.js';
import { SendGate } from '../send-gate.js';
import { StaleConnections } from '../stale-connections.js';
import type { PushServiceState } from '../vendor-sender.js';
import { checkedLookup, type ResolveName, resolvePrivateName, resolvePublicName } from './checked-lookup.js';
import type { AllowedEndpoint } from './endpoint-rules.js';
import { PushService } from './push-service.js';

export interface PushServicesOptions {
  readonly clock: Clock;
  /** PEM of the trusted certificate authorities; the system's if `undefined`. */
  readonly ca: string | string[] | undefined;
  /** If `undefined`, connects without a proxy. */
  readonly proxy: HttpProxy | undefined;
  readonly timeoutMilliseconds: number;
  /** Default: {@link resolvePublicName}. */
  readonly resolve?: ResolveName | undefined;
}

const maximumHosts = 1000;
const connectTimeoutMilliseconds = 5000;
// Slots shared by all unproven hosts. Few, because phones can name any number of hosts that never answer.
const unprovenRequests = 64;
// Slots of one server. A server whose phones name silent hosts must not delay other servers' first notifications.
const unprovenRequestsOfServer = 32;
const provenRequests = 512;

/** The 1000 most recently used push services, by origin. */
export class PushServices {
  readonly #options: PushServicesOptions;
  readonly #staleConnections = new StaleConnections();
  readonly #services: LRUCache<string, PushService>;
  readonly #closing = new Set<Promise<void>>();
  readonly #proven: SendGate;
  readonly #unproven: SendGate;

  constructor(options: PushServicesOptions) {
    this.#options = options;
    this.#proven = new SendGate(provenRequests, options.clock);
    this.#unproven = new SendGate(
      unprovenRequests,
      options.clock,
      () => unprovenRequests,
      unprovenRequestsOfServer,
    );
    this.#services = new LRUCache({
      max: maximumHosts,
      dispose: (service) => this.#track(service.close()),
    });
  }

  of({ url: { origin }, mayBePrivate }: AllowedEndpoint): PushService {
    const known = this.#services.get(origin);
    if (known !== undefined) return known;
    const { clock, timeoutMilliseconds } = this.#options;
    const service = new PushService({
      origin,
      clock,
      timeoutMilliseconds,
      connect: this.#connectorFor(mayBePrivate),
      staleConnections: this.#staleConnections,
    });
    this.#services.set(origin, service);
    return service;
  }

  /** Returns the concurrency limit that a push service shares with other push services. */
  sharedGate({ breaker }: PushService): SendGate {
    return breaker.isProven ? this.#proven : this.#unproven;
  }

  get states(): readonly PushServiceState[] {
    return [...this.#services.values()].map(({ breaker }) => breaker.state);
  }

  /** Whether a request failed because its connection was stale. The push service has most likely not seen it. */
  wasStale(error: unknown): boolean {
    return this.#staleConnections.caused(error);
  }

  async close(deadlineMilliseconds: number): Promise<void> {
    const services = [...this.#services.values()];
    const deadline = setTimeout(() => {
      for (const service of services) this.#track(service.destroy());
    }, deadlineMilliseconds);
    this.#services.clear();
    await Promise.all(this.#closing);
    clearTimeout(deadline);
    this.#staleConnections.close();
  }

  #track(closing: Promise<void>): void {
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  #connectorFor(mayBePrivate: boolean): buildConnector.connector {
    const { ca, proxy, resolve = resolvePublicName } = this.#options;
    const tls = { timeout: connectTimeoutMilliseconds, ...(ca === undefined ? {} : { ca }) };
    // A proxy resolves names itself, so the relay cannot check addresses. The apps file must list the hosts instead.
    if (proxy !== undefined) return connectThrough(proxy, tls);
    return buildConnector({
      ...tls,
      lookup: checkedLookup(mayBePrivate ? resolvePrivateName : resolve, mayBePrivate),
    });
  }
}
