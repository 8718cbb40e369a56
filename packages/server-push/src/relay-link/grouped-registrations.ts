import {
  type ForwardedRegistration,
  maximumRegistrationsAtOnce,
  type RelayDeviceId,
  registerManyBodyLimitBytes,
} from '@waxwing/protocol';
import { Batcher, type Clock } from '@waxwing/service/lifecycle';
import type { RelayOutcome } from './relay-answer.js';
import { type RelayLink, unknownRequest } from './relay-link.js';

interface Forwarded {
  readonly registration: ForwardedRegistration;
  readonly signal: AbortSignal;
}

type Outcomes = readonly RelayOutcome<RelayDeviceId>[];

/** Registrations that were asked for together, and what came of each. */
interface Part {
  readonly group: readonly Forwarded[];
  readonly outcomes: Outcomes;
}

/** How often a relay is asked for parts of a group while it fails at every one: for all, halves and quarters. */
const maximumRequestsInVain = 8;
/** How often it is asked for parts where it takes some: enough to find two among the most that go at once. */
const maximumRequests = 32;

/** How long a relay that does not know the request for many is not asked again whether it does. */
const oneByOneMilliseconds = 60 * 60_000;
// Names, quotes, a key and an account id around each sealed registration.
const charactersAround = 256;

/**
 * Registrations on their way to the relay: those of one turn of the event loop go in one request where the relay takes
 * many at once, and each in its own where it does not. What comes of each is told to whoever brought it.
 */
export class GroupedRegistrations {
  readonly #link: Pick<RelayLink, 'register' | 'registerMany'>;
  readonly #clock: Clock;
  readonly #together = new Batcher<Forwarded, RelayOutcome<RelayDeviceId>>((forwarded) =>
    this.#askForAll(forwarded),
  );
  #foundUnknownAt: number | undefined;

  constructor(link: Pick<RelayLink, 'register' | 'registerMany'>, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  /** The id of its RelayDevice, or why there is none. */
  register(registration: ForwardedRegistration, signal: AbortSignal): Promise<RelayOutcome<RelayDeviceId>> {
    if (this.#goesOneByOne()) return this.#link.register(registration, signal);
    return this.#together.add({ registration, signal });
  }

  #goesOneByOne(): boolean {
    // A clock that was set back keeps nobody from asking again.
    const since = this.#foundUnknownAt === undefined ? -1 : this.#clock() - this.#foundUnknownAt;
    return since >= 0 && since < oneByOneMilliseconds;
  }

  async #askForAll(forwarded: readonly Forwarded[]): Promise<Outcomes> {
    const outcomes = await Promise.all(groupsOf(forwarded).map((group) => this.#ask(group)));
    return outcomes.flat();
  }

  /**
   * Asks for all of the group at once, and, where the relay fails at that, for halves of it and halves of those, which finds
   * the ones that give it trouble. Where the relay fails at everything, the trouble is its own, and all of them wait.
   */
  async #ask(group: readonly Forwarded[]): Promise<Outcomes> {
    let parts = [await this.#askPart(group)];
    let asked = 1;
    while (parts.some(isToBeHalved)) {
      asked += 2 * parts.filter(isToBeHalved).length;
      if (asked > (parts.every(isInTrouble) ? maximumRequestsInVain : maximumRequests)) break;
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
    return { group, outcomes: await this.#askTogether(group) };
  }

  async #askTogether(group: readonly Forwarded[]): Promise<Outcomes> {
    if (group.length > 1) {
      const signal = signalOfAll(group);
      const registrations = group.map(({ registration }) => registration);
      const outcome = await this.#link.registerMany(registrations, signal);
      if (outcome.kind === 'accepted') return outcome.answer;
      if (outcome.kind === 'retry') return group.map(() => outcome);
      if (outcome.code === unknownRequest) this.#foundUnknownAt = this.#clock();
    }
    // Also where the whole was refused, so that one that spoils it is refused alone.
    return Promise.all(group.map(({ registration, signal }) => this.#link.register(registration, signal)));
  }
}

/** Aborted when any of theirs is, of which there is one unless they were asked for in different ways. */
function signalOfAll(group: readonly Forwarded[]): AbortSignal {
  const [one, ...others] = new Set(group.map(({ signal }) => signal));
  return one !== undefined && others.length === 0 ? one : AbortSignal.any(group.map(({ signal }) => signal));
}

/** Whether the relay failed at all of them, as it does at one that it cannot take, and did not say when to come again. */
function isInTrouble({ outcomes }: Part): boolean {
  return outcomes.every(
    (outcome) =>
      outcome.kind === 'retry' && outcome.httpStatus === 500 && outcome.retryAfterSeconds === undefined,
  );
}

function isToBeHalved(part: Part): boolean {
  return part.group.length > 1 && isInTrouble(part);
}

/** As few groups as the relay takes, in order. */
function groupsOf(forwarded: readonly Forwarded[]): Forwarded[][] {
  const groups: Forwarded[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const each of forwarded) {
    const added = each.registration.encryptedPushRegistration.length + charactersAround;
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
