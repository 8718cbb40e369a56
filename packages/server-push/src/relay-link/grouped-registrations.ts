import {
  type ForwardedRegistration,
  maximumRegistrationsAtOnce,
  registerManyBodyLimitBytes,
} from '@waxwing/protocol';
import { Batcher, type Clock } from '@waxwing/service/lifecycle';
import type { RegisteredRelayDevice, RelayOutcome } from './relay-answer.js';
import { type RelayLink, unknownRequest } from './relay-link.js';

interface Forwarded {
  readonly registration: ForwardedRegistration;
  readonly signal: AbortSignal;
}

type Outcomes = readonly RelayOutcome<RegisteredRelayDevice>[];

/** Registrations sent in one request, and the outcome of each. */
interface Part {
  readonly group: readonly Forwarded[];
  readonly outcomes: Outcomes;
}

/** Maximum requests per group while the relay fails at all of them: the whole, halves and quarters (7). */
const maximumFailedRequests = 8;
/**
 * Maximum requests per group if the relay accepts some parts: enough to isolate two bad registrations in the largest
 * group.
 */
const maximumRequests = 32;

/** After a relay turns out not to know the batch request, it is not asked again for this long. */
const oneByOneMilliseconds = 60 * 60_000;
// Overhead per registration: names, quotes, a key and an account id.
const charactersAround = 256;
// Digits, sign and comma.
const charactersPerAccount = 21;

/**
 * Forwards registrations to the relay in batches, one per event-loop tick. Uses one request each if the relay does not
 * know the batch request.
 */
export class GroupedRegistrations {
  readonly #link: Pick<RelayLink, 'register' | 'registerMany'>;
  readonly #clock: Clock;
  readonly #batcher = new Batcher<Forwarded, RelayOutcome<RegisteredRelayDevice>>((forwarded) =>
    this.#askForAll(forwarded),
  );
  #foundUnknownAt: number | undefined;

  constructor(link: Pick<RelayLink, 'register' | 'registerMany'>, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  /** Returns the registered device, or why there is none. */
  register(
    registration: ForwardedRegistration,
    signal: AbortSignal,
  ): Promise<RelayOutcome<RegisteredRelayDevice>> {
    if (this.#sendsSingly()) return this.#link.register(registration, signal);
    return this.#batcher.add({ registration, signal });
  }

  #sendsSingly(): boolean {
    // A negative age means that the clock was set back. It must not delay the next attempt.
    const since = this.#foundUnknownAt === undefined ? -1 : this.#clock() - this.#foundUnknownAt;
    return since >= 0 && since < oneByOneMilliseconds;
  }

  async #askForAll(forwarded: readonly Forwarded[]): Promise<Outcomes> {
    const outcomes = await Promise.all(groupsOf(forwarded).map((group) => this.#ask(group)));
    return outcomes.flat();
  }

  /**
   * Sends a group in one request. If the relay fails at it, bisects the group to isolate the registrations that cause
   * the failure. If the relay fails at everything, the fault is the relay's, and all of them are retried later.
   */
  async #ask(group: readonly Forwarded[]): Promise<Outcomes> {
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

  #askHalves({ group }: Part): Promise<Part[]> {
    const middle = Math.ceil(group.length / 2);
    return Promise.all([group.slice(0, middle), group.slice(middle)].map((half) => this.#askPart(half)));
  }

  async #askPart(group: readonly Forwarded[]): Promise<Part> {
    return { group, outcomes: await this.#sendBatch(group) };
  }

  async #sendBatch(group: readonly Forwarded[]): Promise<Outcomes> {
    if (group.length > 1) {
      const signal = signalOfAll(group);
      const registrations = group.map(({ registration }) => registration);
      const outcome = await this.#link.registerMany(registrations, signal);
      if (outcome.kind === 'accepted') return outcome.answer;
      if (outcome.kind === 'retry') return group.map(() => outcome);
      if (outcome.code === unknownRequest) this.#foundUnknownAt = this.#clock();
    }
    // Also after the whole batch was refused, so that one bad registration is refused alone.
    return Promise.all(group.map(({ registration, signal }) => this.#link.register(registration, signal)));
  }
}

/** Aborted when any signal of the group is. Usually all share one signal. */
function signalOfAll(group: readonly Forwarded[]): AbortSignal {
  const [one, ...others] = new Set(group.map(({ signal }) => signal));
  return one !== undefined && others.length === 0 ? one : AbortSignal.any(group.map(({ signal }) => signal));
}

/**
 * Whether the relay failed at all of them with a 500 and no `Retry-After`, as it does for a registration that it
 * cannot handle.
 */
function isInTrouble({ outcomes }: Part): boolean {
  return outcomes.every(
    (outcome) =>
      outcome.kind === 'retry' && outcome.httpStatus === 500 && outcome.retryAfterSeconds === undefined,
  );
}

function isToBeHalved(part: Part): boolean {
  return part.group.length > 1 && isInTrouble(part);
}

/** Splits into as few groups as the relay's limits allow, in order. */
function groupsOf(forwarded: readonly Forwarded[]): Forwarded[][] {
  const groups: Forwarded[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const each of forwarded) {
    const { encryptedPushRegistration: sealed, accountsOfUser } = each.registration;
    const added = sealed.length + accountsOfUser.length * charactersPerAccount + charactersAround;
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
