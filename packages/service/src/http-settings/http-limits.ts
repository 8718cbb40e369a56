import type { EnvironmentReader } from '../config/environment-reader.js';
import { AddressRanges } from './client-address.js';

/** What the HTTP side of a process takes at most, of everybody and of one. Beyond each of them it refuses. */
export interface HttpLimits {
  /** Open connections; beyond it the one that was idle for longest is closed. */
  readonly maximumConnections: number;
  /** Open connections of one address, an IPv6 /64 counting as one. */
  readonly maximumConnectionsPerAddress: number;
  /** Whose `X-Forwarded-For` says who asks. */
  readonly trustedProxies: AddressRanges;
  /** Requests of known actors, and whole requests of anybody, that are not answered yet. */
  readonly maximumRequestsInFlight: number;
  /** The same of one actor. */
  readonly maximumRequestsPerActor: number;
  /** How long answers may take before an operation takes on no more than it answers in that time. */
  readonly backlogMilliseconds: number;
  /** So many requests of each operation are worked on even then. */
  readonly minimumBacklog: number;
  /** Bytes of bodies in memory, of all requests together; one actor may take a quarter. */
  readonly maximumBodyBytesInFlight: number;
  /** From a connection's or request's first moment until its head is there. */
  readonly headTimeoutMilliseconds: number;
  /** From a request's first byte until its body is there. */
  readonly requestTimeoutMilliseconds: number;
  /** How long a connection is kept open between requests. */
  readonly idleTimeoutMilliseconds: number;
  /** How long the requester may take to receive the whole answer. */
  readonly answerTimeoutMilliseconds: number;
  /** How long the rest of a body may still come whose request was answered without it. */
  readonly unreadBodyTimeoutMilliseconds: number;
  /** How often all of these times are looked at. */
  readonly checkEveryMilliseconds: number;
}

export const defaultHttpLimits: HttpLimits = {
  maximumConnections: 10_000,
  maximumConnectionsPerAddress: 1000,
  trustedProxies: new AddressRanges([]),
  maximumRequestsInFlight: 10_000,
  maximumRequestsPerActor: 1000,
  backlogMilliseconds: 300,
  minimumBacklog: 32,
  maximumBodyBytesInFlight: 64 * 1024 * 1024,
  headTimeoutMilliseconds: 10_000,
  requestTimeoutMilliseconds: 30_000,
  idleTimeoutMilliseconds: 75_000,
  answerTimeoutMilliseconds: 30_000,
  unreadBodyTimeoutMilliseconds: 5000,
  checkEveryMilliseconds: 1000,
};

/** Whom a program calls its actors in its settings, and how many requests one of them may have by default. */
export interface ActorSetting {
  readonly actor: 'SERVER' | 'USER';
  readonly maximumRequests: number;
}

const counts = { minimum: 1, maximum: 1_000_000 } as const;
const bytes = { minimum: 1, maximum: 1024 ** 4 } as const;
const seconds = { minimum: 1, maximum: 3600 } as const;

/** Reads the settings that both programs have under their prefixes; `actor` names one of them. */
export function readHttpLimits(
  reader: EnvironmentReader,
  { actor, maximumRequests }: ActorSetting,
): HttpLimits {
  const usual = defaultHttpLimits;
  const milliseconds = (name: string, fallback: number): number =>
    reader.integer(`${name}_TIMEOUT_SECONDS`, fallback / 1000, seconds) * 1000;
  const limits = {
    maximumConnections: reader.integer('MAXIMUM_CONNECTIONS', usual.maximumConnections, counts),
    maximumConnectionsPerAddress: reader.integer(
      'MAXIMUM_CONNECTIONS_PER_ADDRESS',
      usual.maximumConnectionsPerAddress,
      counts,
    ),
    trustedProxies: readTrustedProxies(reader),
    maximumRequestsInFlight: reader.integer(
      'MAXIMUM_REQUESTS_IN_FLIGHT',
      usual.maximumRequestsInFlight,
      counts,
    ),
    maximumRequestsPerActor: reader.integer(`MAXIMUM_REQUESTS_PER_${actor}`, maximumRequests, counts),
    backlogMilliseconds: usual.backlogMilliseconds,
    minimumBacklog: usual.minimumBacklog,
    maximumBodyBytesInFlight: reader.integer(
      'MAXIMUM_BODY_BYTES_IN_FLIGHT',
      usual.maximumBodyBytesInFlight,
      bytes,
    ),
    headTimeoutMilliseconds: milliseconds('HEAD', usual.headTimeoutMilliseconds),
    requestTimeoutMilliseconds: milliseconds('REQUEST', usual.requestTimeoutMilliseconds),
    idleTimeoutMilliseconds: milliseconds('IDLE', usual.idleTimeoutMilliseconds),
    answerTimeoutMilliseconds: milliseconds('ANSWER', usual.answerTimeoutMilliseconds),
    unreadBodyTimeoutMilliseconds: usual.unreadBodyTimeoutMilliseconds,
    checkEveryMilliseconds: usual.checkEveryMilliseconds,
  };
  reportContradictions(reader, limits, actor);
  return limits;
}

function reportContradictions(
  reader: EnvironmentReader,
  limits: HttpLimits,
  actor: ActorSetting['actor'],
): void {
  if (limits.headTimeoutMilliseconds > limits.requestTimeoutMilliseconds) {
    reader.problem(
      `${reader.fullName('HEAD_TIMEOUT_SECONDS')} is longer than ${reader.fullName('REQUEST_TIMEOUT_SECONDS')}: set it to at most as long, because a head is a part of its request.`,
    );
  }
  if (limits.maximumRequestsPerActor > limits.maximumRequestsInFlight) {
    const one = reader.fullName(`MAXIMUM_REQUESTS_PER_${actor}`);
    reader.problem(
      `${one} is more than ${reader.fullName('MAXIMUM_REQUESTS_IN_FLIGHT')} (${limits.maximumRequestsPerActor} and ${limits.maximumRequestsInFlight}): set it to less, or the other to more, because one ${actor.toLowerCase()} could otherwise take the places of all.`,
    );
  }
}

function readTrustedProxies(reader: EnvironmentReader): AddressRanges {
  const ranges =
    reader
      .optional('TRUSTED_PROXIES')
      ?.split(',')
      .map((text) => text.trim()) ?? [];
  try {
    return new AddressRanges(ranges);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    reader.problem(
      `${reader.fullName('TRUSTED_PROXIES')} is wrong: ${error.message}; separate several by commas.`,
    );
    return defaultHttpLimits.trustedProxies;
  }
}
