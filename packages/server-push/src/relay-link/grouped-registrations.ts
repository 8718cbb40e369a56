import { maximumRegistrationsAtOnce, registerManyBodyLimitBytes } from '@waxwing/protocol';
import { Batcher, type Clock } from '@waxwing/service/lifecycle';
import type { RegistrationFormat } from './registration-format.js';
import { type RelayOutcome, unknownRequest } from './relay-answer.js';
import type { RelayLink } from './relay-link.js';
import { signalOfAll } from './signal-of-all.js';

interface Forwarded<Registration> {
  readonly registration: Registration;
  readonly signal: AbortSignal;
}

type Outcomes<Registered> = readonly RelayOutcome<Registered>[];

/** Registrations that were sent in one request, with the outcome of each. */
interface Part<Registration, Registered> {
  readonly group: readonly Forwarded<Registration>[];
  readonly outcomes: Outcomes<Registered>;
}

/**
 * Maximum requests per group while the relay fails for all registrations. Allows the whole group, its halves and its
 * quarters (7 requests).
 */
const maximumFailedRequests = 8;
/**
 * Maximum requests per group if the relay accepts some registrations. This is enough to isolate two bad registrations
 * in the largest group.
 */
const maximumRequests = 32;

/** How long no batch request is sent after the relay has reported batch requests as unknown. */
const oneByOneMilliseconds = 60 * 60_000;
// Characters allowed for the rest of the request: the realm and the field names.
const charactersAround = 256;

/**
 * Forwards registrations of one generation to the relay in batches, one per event-loop tick. If the relay does not know
 * the batch request, sends one request per registration.
 */
export class GroupedRegistrations<Registration, Registered> {
  readonly #link: Pick<RelayLink, 'kind' | 'register' | 'registerMany'>;
  readonly #format: RegistrationFormat<Registration, Registered>;
  readonly #clock: Clock;
  readonly #batcher = new Batcher<Forwarded<Registration>, RelayOutcome<Registered>>((forwarded) =>
    this.#askForAll(forwarded),
  );
  #foundUnknownAt: number | undefined;

  constructor(
    link: Pick<RelayLink, 'kind' | 'register' | 'registerMany'>,
    format: RegistrationFormat<Registration, Registered>,
    clock: Clock,
  ) {
    this.#link = link;
    this.#format = format;
    this.#clock = clock;
  }

  /** False if the relay is known to be a stock relay. */
  get comparesTokens(): boolean {
    return !this.#link.kind.isStock;
  }

  /** Returns the registered device, or the reason why there is none. */
  register(registration: Registration, signal: AbortSignal): Promise<RelayOutcome<Registered>> {
    if (this.#sendsSingly()) return this.#link.register(this.#format, registration, signal);
    return this.#batcher.add({ registration, signal });
  }

  #sendsSingly(): boolean {
    if (this.#link.kind.isStock) return true;
    // A negative age means that the clock was set back, which must not delay the next attempt.
    const since = this.#foundUnknownAt === undefined ? -1 : this.#clock() - this.#foundUnknownAt;
    return since >= 0 && since < oneByOneMilliseconds;
  }

  async #askForAll(forwarded: readonly Forwarded<Registration>[]): Promise<Outcomes<Registered>> {
    const groups = groupsOf(forwarded, this.#format);
    const outcomes = await Promise.all(groups.map((group) => this.#ask(group)));
    return outcomes.flat();
  }

  /**
   * Sends a group in one request. If the relay fails, bisects the group to isolate the registrations that cause the
   * failure. If the relay fails for all registrations, the relay itself is at fault, and all registrations are retried
   * later.
   */
  async #ask(group: readonly Forwarded<Registration>[]): Promise<Outcomes<Registered>> {
    let parts = [await this.#askPart(group)];
    let asked = 1;
    while (parts.some(isToBeHalved)) {
      asked += 2 * parts.filter(isToBeHalved).length;
      if (asked > (parts.every(isInTrouble) ? maximumFailedRequests : maximumRequests)) break;
      const next = parts.map((part) => (isToBeHalved(part) ? this.#askHalves(part) : [part]));
      parts = (await Promise.all(next)).flat();
    }
    return parts.flatMap(({ outcomes }) => outcomes);
  }

  #askHalves({ group }: Part<Registration, Registered>): Promise<Part<Registration, Registered>[]> {
    const middle = Math.ceil(group.length / 2);
    return Promise.all([group.slice(0, middle), group.slice(middle)].map((half) => this.#askPart(half)));
  }

  async #askPart(group: readonly Forwarded<Registration>[]): Promise<Part<Registration, Registered>> {
    return { group, outcomes: await this.#sendBatch(group) };
  }

  async #sendBatch(group: readonly Forwarded<Registration>[]): Promise<Outcomes<Registered>> {
    if (group.length > 1) {
      const signal = signalOfAll(group);
      const registrations = group.map(({ registration }) => registration);
      const outcome = await this.#link.registerMany(this.#format, registrations, signal);
      if (outcome.kind === 'accepted') return outcome.answer;
      if (outcome.kind === 'retry') return group.map(() => outcome);
      if (outcome.code === unknownRequest) this.#foundUnknownAt = this.#clock();
    }
    // After a refusal of the whole batch, each registration is sent in a separate request, so that only the bad
    // registration is refused.
    return Promise.all(
      group.map(({ registration, signal }) => this.#link.register(this.#format, registration, signal)),
    );
  }
}

/**
 * Whether the relay failed for all registrations with a 500 without `Retry-After`, as it does for a registration that
 * it cannot handle.
 */
function isInTrouble({ outcomes }: Pick<Part<unknown, unknown>, 'outcomes'>): boolean {
  return outcomes.every(
    (outcome) =>
      outcome.kind === 'retry' && outcome.httpStatus === 500 && outcome.retryAfterSeconds === undefined,
  );
}

function isToBeHalved(part: Part<unknown, unknown>): boolean {
  return part.group.length > 1 && isInTrouble(part);
}

/** Splits registrations into as few groups as the relay's limits allow, and keeps their order. */
function groupsOf<Registration>(
  forwarded: readonly Forwarded<Registration>[],
  { charactersOf }: Pick<RegistrationFormat<Registration, unknown>, 'charactersOf'>,
): Forwarded<Registration>[][] {
  const groups: Forwarded<Registration>[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const each of forwarded) {
    const added = charactersOf(each.registration);
    const last = groups.at(-1);
    const isFull = last?.length === maximumRegistrationsAtOnce;
    if (last === undefined || isFull || characters + added > registerManyBodyLimitBytes) {
      groups.push([each]);
      characters = charactersAround + added;
    } else {
      last.push(each);
      characters += added;
    }
  }
  return groups;
}
