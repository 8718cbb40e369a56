import { ProtocolError } from '@waxwing/protocol';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import type { Exchange } from '../exchange.js';

/** Why a request was refused though nothing is wrong with it; a label of the metric. */
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

/** What somebody holds, and which part of all bytes of bodies that may be at most. */
interface Holder {
  readonly share: Share;
  readonly partOfBytes: number;
}

interface Place extends PlaceRequest {
  readonly holders: readonly Holder[];
  readonly exchange: Exchange;
  isHeld: boolean;
}

const retryAfterSeconds = 1;
/** One actor may fill this part of the memory for bodies, and so may all together who are not authenticated. */
const actorPartOfBytes = 1 / 4;
/** Those of them who come from one address. */
const addressPartOfBytes = actorPartOfBytes / 4;

const fewActors = 1000;

/** Counts the requests that are worked on and the bytes of their bodies, and keeps both bounded. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #actors = new Map<string, Share>();
  readonly #lanes = new Map<string, Place>();
  readonly #all: Share = { requests: 0, bodyBytes: 0 };
  readonly #strangers: Share = { requests: 0, bodyBytes: 0 };
  #forgetAtSize = fewActors;

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
    const { actor, requests, bodyBytes } = wanted;
    const holders = this.#holdersOf(exchange, wanted);
    this.#requireRoom(wanted, holders);
    const place: Place = { actor, holders, lane, requests, bodyBytes, exchange, isHeld: true };
    this.#add(place, 1);
    if (lane !== undefined) this.#lanes.set(lane, place);
    exchange.whenOver(() => this.#leave(place));
  }

  /** Who holds it together with what they hold already; nobody for a request of anybody without a body. */
  #holdersOf({ sender }: Exchange, { actor, bodyBytes }: PlaceRequest): readonly Holder[] {
    if (actor !== undefined) return [{ share: this.#shareOf(actor), partOfBytes: actorPartOfBytes }];
    if (bodyBytes === 0) return [];
    return [
      { share: this.#shareOf(`stranger ${sender}`), partOfBytes: addressPartOfBytes },
      { share: this.#strangers, partOfBytes: actorPartOfBytes },
    ];
  }

  #requireRoom({ actor, requests, bodyBytes }: PlaceRequest, holders: readonly Holder[]): void {
    const { maximumRequestsInFlight, maximumRequestsPerActor, maximumBodyBytesInFlight } =
      this.#options.limits;
    const isKnown = actor !== undefined;
    if (isKnown && holders.some(({ share }) => share.requests + requests > maximumRequestsPerActor)) {
      throw this.#refuseActor('actor-requests');
    }
    if (this.#all.requests + requests > maximumRequestsInFlight) throw this.#refuse('requests');
    const hasNoRoom = ({ share, partOfBytes }: Holder) =>
      isTooMuch(share, bodyBytes, maximumBodyBytesInFlight * partOfBytes);
    if (holders.some(hasNoRoom)) {
      throw isKnown ? this.#refuseActor('actor-body-bytes') : this.#refuse('body-bytes');
    }
    if (isTooMuch(this.#all, bodyBytes, maximumBodyBytesInFlight)) throw this.#refuse('body-bytes');
  }

  /** An actor's share is kept a while after its last request: most come again at once. */
  #shareOf(actor: string): Share {
    const known = this.#actors.get(actor);
    if (known !== undefined) return known;
    if (this.#actors.size >= this.#forgetAtSize) this.#forgetIdle();
    const share = { requests: 0, bodyBytes: 0 };
    this.#actors.set(actor, share);
    return share;
  }

  #forgetIdle(): void {
    for (const [actor, share] of this.#actors) if (share.requests === 0) this.#actors.delete(actor);
    // Twice as many as are busy, so that looking through them all stays rare.
    this.#forgetAtSize = Math.max(fewActors, this.#actors.size * 2);
  }

  #leave(place: Place): void {
    if (!place.isHeld) return;
    place.isHeld = false;
    this.#add(place, -1);
    if (place.lane !== undefined && this.#lanes.get(place.lane) === place) this.#lanes.delete(place.lane);
  }

  #add({ holders, requests, bodyBytes }: Place, sign: 1 | -1): void {
    this.#all.requests += sign * requests;
    this.#all.bodyBytes += sign * bodyBytes;
    for (const { share } of holders) {
      // What an actor asks for is always a request; of strangers it keeps their address from being forgotten.
      share.requests += sign;
      share.bodyBytes += sign * bodyBytes;
    }
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

/** A body that is larger than the whole limit passes when there is no other. */
function isTooMuch({ bodyBytes: taken }: Share, bodyBytes: number, limit: number): boolean {
  return bodyBytes > 0 && taken > 0 && taken + bodyBytes > limit;
}
