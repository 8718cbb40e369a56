import type { RelayNotifyAnyAnswer, WrittenPushRequest } from '@waxwing/protocol';
import { Batcher } from '@waxwing/service/lifecycle';
import { boundToTrace, currentTraceparent } from '@waxwing/service/tracing';
import type { RelayOutcome } from '../relay-link/relay-answer.js';
import type { RelayKind } from '../relay-link/relay-kind.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import { signalOfAll } from '../relay-link/signal-of-all.js';
import { deadAddresses } from './device-results.js';
import { addressOf } from './recipient.js';

/** The requests for the devices of one notification. */
interface Group {
  readonly requests: readonly WrittenPushRequest[];
  readonly signal: AbortSignal | undefined;
  /** Groups from different traces never share a request, because a request belongs to one trace. */
  readonly traceId: string | undefined;
  /** Sends the request in the group's trace. */
  readonly ask: RelayLink['notify'];
}

type Outcome = RelayOutcome<RelayNotifyAnyAnswer>;

/**
 * Maximum number of devices in one request. The largest notification is about 4 KB after sealing and encoding, and the
 * relay's body limit is 1 MiB.
 */
export const maximumDevicesPerRequest = 200;

/**
 * Batches notifications for many users into one request per event-loop tick. A relay that is not known to accept
 * batches gets one request per notification, because it may fail after it has delivered part of a batch.
 */
export class GroupedNotifications {
  readonly #link: Pick<RelayLink, 'kind' | 'notify'>;
  readonly #batcher = new Batcher<Group, Outcome>((groups) => askForAll(groups), {
    countFitting: (groups) => countFitting(groups),
  });

  constructor(link: Pick<RelayLink, 'kind' | 'notify'>) {
    this.#link = link;
  }

  get kind(): RelayKind {
    return this.#link.kind;
  }

  /** Like {@link RelayLink.notify}. The returned results cover only these devices. */
  notify(requests: readonly WrittenPushRequest[], signal?: AbortSignal): Promise<Outcome> {
    if (!this.kind.isOurs) return this.#link.notify(requests, signal);
    const ask = boundToTrace((...given: Parameters<RelayLink['notify']>) => this.#link.notify(...given));
    // The trace id is the second part of a traceparent.
    const traceId = currentTraceparent()?.split('-')[1];
    return this.#batcher.add({ requests, signal, traceId, ask });
  }
}

/**
 * Counts the groups that fit into one request. No address may occur twice in a request, because the response identifies
 * dead devices only by address.
 */
function countFitting(groups: readonly Group[]): number {
  const addresses = new Set<string>();
  const unfit = groups.findIndex(({ requests, traceId }, index) => {
    const own = requests.map(addressOf);
    const isFull = addresses.size + own.length > maximumDevicesPerRequest;
    const isOther = traceId !== groups[0]?.traceId;
    if (index > 0 && (isFull || isOther || own.some((address) => addresses.has(address)))) return true;
    for (const address of own) addresses.add(address);
    return false;
  });
  return unfit === -1 ? groups.length : unfit;
}

async function askForAll(groups: readonly Group[]): Promise<Outcome[]> {
  const [first] = groups;
  if (first === undefined) return [];
  const requests = groups.flatMap((group) => group.requests);
  const outcome = await first.ask(requests, signalOfAll(groups));
  if (groups.length === 1) return [outcome];
  if (outcome.kind === 'accepted') return divide(groups, outcome.answer);
  // A single notification may have caused the failure, so each group is resent in a separate request.
  const mayConcernOne = outcome.kind === 'refused-for-good' || outcome.httpStatus === 500;
  if (!mayConcernOne) return groups.map(() => outcome);
  return Promise.all(groups.map(({ requests: own, signal, ask }) => ask(own, signal)));
}

/**
 * Splits the relay's response into one part per group. If the response has no results, assumes that vendors accepted
 * the first devices that are not dead.
 */
function divide(groups: readonly Group[], answer: RelayNotifyAnyAnswer): Outcome[] {
  const { results } = answer;
  const hasAll = results?.length === groups.reduce((sum, { requests }) => sum + requests.length, 0);
  const dead = deadAddresses(answer);
  let [from, sent] = [0, answer.android_successfully_sent_count + answer.apple_successfully_sent_count];
  return groups.map(({ requests }): Outcome => {
    const to = from + requests.length;
    const living = requests.filter((request) => !dead.has(addressOf(request))).length;
    const own = Math.min(living, sent);
    const counts = { android_successfully_sent_count: own, apple_successfully_sent_count: 0 };
    const part = hasAll ? { ...answer, results: results.slice(from, to) } : { ...answer, ...counts };
    [from, sent] = [to, sent - own];
    return { kind: 'accepted', answer: part };
  });
}
