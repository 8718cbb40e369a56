import { ProtocolError } from '@waxwing/protocol';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import type { Exchange } from '../exchange.js';

/** The limit that caused the refusal of a request or connection. Used as a metric label. */
export type RefusalReason =
  | 'requests'
  | 'overload'
  | 'actor-requests'
  | 'body-bytes'
  | 'actor-body-bytes'
  | 'connections'
  | 'address'
  | 'pipelining'
  | 'timeout';

export interface InFlightCapsOptions {
  readonly limits: Pick<
    HttpLimits,
    'maximumRequestsInFlight' | 'maximumRequestsPerActor' | 'maximumBodyBytesInFlight'
  >;
  /** HTTP status for an actor with too many requests: 503 for peers that treat 429 as a permanent error. */
  readonly actorRefusalStatus: 429 | 503;
  readonly onRefusal: (reason: RefusalReason) => void;
}

/** The resources that a request uses until it is answered. */
export interface SlotRequest {
  /** The authenticated actor; `undefined` for an unauthenticated client. */
  readonly actor: string | undefined;
  /** Lane of a long poll. A newer request of the same actor and lane replaces the older one. */
  readonly lane?: string | undefined;
  /** 0 for an unauthenticated client that has not yet sent its whole body. */
  readonly requests: 0 | 1;
  /** Upper bound for the body's size, in bytes. */
  readonly bodyBytes: number;
}

interface Usage {
  requests: number;
  bodyBytes: number;
}

/** A usage counter that a slot adds to, and the fraction of the body-byte limit that the counter may reach. */
interface Account {
  readonly usage: Usage;
  readonly partOfBytes: number;
}

interface Slot extends SlotRequest {
  readonly accounts: readonly Account[];
  readonly exchange: Exchange;
  isHeld: boolean;
}

const retryAfterSeconds = 1;
/** Fraction of the body-byte limit for one actor, and for all unauthenticated clients together. */
const actorPartOfBytes = 1 / 4;
/** Fraction of the body-byte limit for the unauthenticated clients of one address. */
const addressPartOfBytes = actorPartOfBytes / 4;

const fewActors = 1000;

/** Caps in-flight requests and buffered body bytes, in total and per actor. */
export class InFlightCaps {
  readonly #options: InFlightCapsOptions;
  readonly #actors = new Map<string, Usage>();
  readonly #lanes = new Map<string, Slot>();
  readonly #total: Usage = { requests: 0, bodyBytes: 0 };
  readonly #unauthenticated: Usage = { requests: 0, bodyBytes: 0 };
  #evictAtSize = fewActors;

  constructor(options: InFlightCapsOptions) {
    this.#options = options;
  }

  get requestsInFlight(): number {
    return this.#total.requests;
  }

  get bodyBytesInFlight(): number {
    return this.#total.bodyBytes;
  }

  /**
   * Acquires a slot until the exchange ends. First aborts any older request in the same lane, which releases that
   * request's slot.
   * @throws ProtocolError SERVICE_UNAVAILABLE or RATE_LIMIT_HIT, both with Retry-After
   */
  acquire(exchange: Exchange, wanted: SlotRequest): void {
    const lane = wanted.lane === undefined ? undefined : `${wanted.actor} ${wanted.lane}`;
    const older = lane === undefined ? undefined : this.#lanes.get(lane);
    if (older !== undefined) {
      this.#release(older);
      older.exchange.abort();
    }
    const { actor, requests, bodyBytes } = wanted;
    const accounts = this.#accountsOf(exchange, wanted);
    this.#requireRoom(wanted, accounts);
    const slot: Slot = { actor, accounts, lane, requests, bodyBytes, exchange, isHeld: true };
    this.#add(slot, 1);
    if (lane !== undefined) this.#lanes.set(lane, slot);
    exchange.onEnd(() => this.#release(slot));
  }

  /**
   * Returns the usage counters that a request adds to. An unauthenticated request without a body adds only to the
   * total.
   */
  #accountsOf({ clientKey }: Exchange, { actor, bodyBytes }: SlotRequest): readonly Account[] {
    if (actor !== undefined) return [{ usage: this.#usageOf(actor), partOfBytes: actorPartOfBytes }];
    if (bodyBytes === 0) return [];
    return [
      { usage: this.#usageOf(`unauthenticated ${clientKey}`), partOfBytes: addressPartOfBytes },
      { usage: this.#unauthenticated, partOfBytes: actorPartOfBytes },
    ];
  }

  #requireRoom({ actor, requests, bodyBytes }: SlotRequest, accounts: readonly Account[]): void {
    const { maximumRequestsInFlight, maximumRequestsPerActor, maximumBodyBytesInFlight } =
      this.#options.limits;
    const isKnown = actor !== undefined;
    if (isKnown && accounts.some(({ usage }) => usage.requests + requests > maximumRequestsPerActor)) {
      throw this.#refuseActor('actor-requests');
    }
    if (this.#total.requests + requests > maximumRequestsInFlight) throw this.#refuse('requests');
    const isFull = ({ usage, partOfBytes }: Account) =>
      isTooMuch(usage, bodyBytes, maximumBodyBytesInFlight * partOfBytes);
    if (accounts.some(isFull)) {
      throw isKnown ? this.#refuseActor('actor-body-bytes') : this.#refuse('body-bytes');
    }
    if (isTooMuch(this.#total, bodyBytes, maximumBodyBytesInFlight)) throw this.#refuse('body-bytes');
  }

  /**
   * Returns an actor's usage. The entry is kept after the actor's last request, because most actors soon send another
   * one.
   */
  #usageOf(actor: string): Usage {
    const known = this.#actors.get(actor);
    if (known !== undefined) return known;
    if (this.#actors.size >= this.#evictAtSize) this.#evictIdle();
    const usage = { requests: 0, bodyBytes: 0 };
    this.#actors.set(actor, usage);
    return usage;
  }

  #evictIdle(): void {
    for (const [actor, usage] of this.#actors) if (usage.requests === 0) this.#actors.delete(actor);
    // Twice the number of busy actors, so that the cost of eviction is amortized.
    this.#evictAtSize = Math.max(fewActors, this.#actors.size * 2);
  }

  #release(slot: Slot): void {
    if (!slot.isHeld) return;
    slot.isHeld = false;
    this.#add(slot, -1);
    if (slot.lane !== undefined && this.#lanes.get(slot.lane) === slot) this.#lanes.delete(slot.lane);
  }

  #add({ accounts, requests, bodyBytes }: Slot, sign: 1 | -1): void {
    this.#total.requests += sign * requests;
    this.#total.bodyBytes += sign * bodyBytes;
    for (const { usage } of accounts) {
      // An unauthenticated body also counts as a request, which protects its address from eviction.
      usage.requests += sign;
      usage.bodyBytes += sign * bodyBytes;
    }
  }

  #refuse(reason: RefusalReason): ProtocolError {
    this.#options.onRefusal(reason);
    return new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds, cause: reason });
  }

  #refuseActor(reason: RefusalReason): ProtocolError {
    this.#options.onRefusal(reason);
    const httpStatus = this.#options.actorRefusalStatus;
    const message = 'Too many requests at once: wait for answers before you send more';
    const fields = { 'retry-after': retryAfterSeconds };
    return new ProtocolError('RATE_LIMIT_HIT', {
      httpStatus,
      message,
      fields,
      retryAfterSeconds,
      cause: reason,
    });
  }
}

/**
 * Whether a body would exceed the limit. A body that is larger than the whole limit is still accepted if there is no
 * other body.
 */
function isTooMuch({ bodyBytes: taken }: Usage, bodyBytes: number, limit: number): boolean {
  return bodyBytes > 0 && taken > 0 && taken + bodyBytes > limit;
}
