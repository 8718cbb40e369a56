import { ProtocolError } from '@waxwing/protocol';
import type { Exchange } from './exchange.js';
import type { HttpLimits } from './http-limits.js';

/** Why a request was refused though nothing is wrong with it; a label of the metric. */
export type RefusalReason =
  | 'requests'
  | 'actor-requests'
  | 'body-bytes'
  | 'actor-body-bytes'
  | 'connections'
  | 'address'
  | 'pipelining'
  | 'timeout';

export interface PlacesOptions {
  readonly limits: Pick<
    HttpLimits,
    'maximumRequestsInFlight' | 'maximumRequestsPerActor' | 'maximumBodyBytesInFlight'
  >;
  /** With what an actor is refused that has too many requests: 503 where peers take a 429 for final. */
  readonly actorRefusalStatus: 429 | 503;
  readonly onRefusal: (reason: RefusalReason) => void;
}

/** What a request wants to hold until it is answered. */
export interface PlaceRequest {
  /** `undefined` for anybody. */
  readonly actor: string | undefined;
  /** Of the requests of an actor with the same lane only the newest is kept. */
  readonly lane?: string | undefined;
  /** 0 for a request of anybody whose body is still to come. */
  readonly requests: 0 | 1;
  /** Bytes that its body will take. */
  readonly bodyBytes: number;
}

interface Share {
  requests: number;
  bodyBytes: number;
}

interface Place extends PlaceRequest {
  readonly exchange: Exchange;
  isHeld: boolean;
}

const retryAfterSeconds = 1;
/** One actor may fill this part of the memory for bodies. */
const actorPartOfBytes = 1 / 4;

/** Counts the requests that are worked on and the bytes of their bodies, and keeps both bounded. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #actors = new Map<string, Share>();
  readonly #lanes = new Map<string, Place>();
  readonly #all: Share = { requests: 0, bodyBytes: 0 };

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get requestsInFlight(): number {
    return this.#all.requests;
  }

  get bodyBytesInFlight(): number {
    return this.#all.bodyBytes;
  }

  /**
   * Takes a place until the exchange is over. An older request of the same lane is ended first, and gives up its own.
   * @throws ProtocolError SERVICE_UNAVAILABLE or RATE_LIMIT_HIT, both with Retry-After.
   */
  take(exchange: Exchange, wanted: PlaceRequest): void {
    const lane = wanted.lane === undefined ? undefined : `${wanted.actor} ${wanted.lane}`;
    const older = lane === undefined ? undefined : this.#lanes.get(lane);
    if (older !== undefined) {
      this.#leave(older);
      older.exchange.abort();
    }
    this.#requireRoom(wanted);
    const place: Place = { ...wanted, lane, exchange, isHeld: true };
    this.#add(place, 1);
    if (lane !== undefined) this.#lanes.set(lane, place);
    exchange.whenOver(() => this.#leave(place));
  }

  #requireRoom({ actor, requests, bodyBytes }: PlaceRequest): void {
    const { maximumRequestsInFlight, maximumRequestsPerActor, maximumBodyBytesInFlight } =
      this.#options.limits;
    const share = actor === undefined ? undefined : this.#actors.get(actor);
    if (share !== undefined && share.requests + requests > maximumRequestsPerActor) {
      throw this.#refuseActor('actor-requests');
    }
    if (this.#all.requests + requests > maximumRequestsInFlight) throw this.#refuse('requests');
    // A body that is larger than the whole limit passes when there is no other.
    const isTooMuch = ({ bodyBytes: taken }: Share, limit: number): boolean =>
      bodyBytes > 0 && taken > 0 && taken + bodyBytes > limit;
    if (share !== undefined && isTooMuch(share, maximumBodyBytesInFlight * actorPartOfBytes)) {
      throw this.#refuseActor('actor-body-bytes');
    }
    if (isTooMuch(this.#all, maximumBodyBytesInFlight)) throw this.#refuse('body-bytes');
  }

  #leave(place: Place): void {
    if (!place.isHeld) return;
    place.isHeld = false;
    this.#add(place, -1);
    if (place.lane !== undefined && this.#lanes.get(place.lane) === place) this.#lanes.delete(place.lane);
  }

  #add({ actor, requests, bodyBytes }: PlaceRequest, sign: 1 | -1): void {
    this.#all.requests += sign * requests;
    this.#all.bodyBytes += sign * bodyBytes;
    if (actor === undefined) return;
    const share = this.#actors.get(actor) ?? { requests: 0, bodyBytes: 0 };
    share.requests += sign * requests;
    share.bodyBytes += sign * bodyBytes;
    if (share.requests === 0 && share.bodyBytes === 0) this.#actors.delete(actor);
    else this.#actors.set(actor, share);
  }

  #refuse(reason: RefusalReason): ProtocolError {
    this.#options.onRefusal(reason);
    return new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds });
  }

  #refuseActor(reason: RefusalReason): ProtocolError {
    this.#options.onRefusal(reason);
    const httpStatus = this.#options.actorRefusalStatus;
    const message = 'Too many requests at once: wait for answers before asking more';
    const fields = { 'retry-after': retryAfterSeconds };
    return new ProtocolError('RATE_LIMIT_HIT', { httpStatus, message, fields, retryAfterSeconds });
  }
}
