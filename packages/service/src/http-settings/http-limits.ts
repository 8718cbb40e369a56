import type { EnvironmentReader } from '../config/environment-reader.js';
import { AddressRanges } from './client-address.js';

/** HTTP limits of a process, in total and per client. Requests that exceed a limit are refused. */
export interface HttpLimits {
  /** Maximum open connections. Beyond this limit, the connection that has been idle the longest is closed. */
  readonly maximumConnections: number;
  /** Maximum open connections per address. An IPv6 /64 counts as one address. */
  readonly maximumConnectionsPerAddress: number;
  /** Proxies whose `X-Forwarded-For` header is trusted. */
  readonly trustedProxies: AddressRanges;
  /**
   * Maximum in-flight requests in total. Requests from unauthenticated clients count only once they have been
   * completely received.
   */
  readonly maximumRequestsInFlight: number;
  /** Maximum in-flight requests per actor. */
  readonly maximumRequestsPerActor: number;
  /**
   * Latency target, in milliseconds. An operation that misses the target admits only as many requests as it can
   * complete within this time.
   */
  readonly backlogMilliseconds: number;
  /** Number of in-flight requests per operation that are always admitted. */
  readonly minimumBacklog: number;
  /** Maximum body bytes in memory, in total. One actor may use a quarter of them. */
  readonly maximumBodyBytesInFlight: number;
  /**
   * Maximum bytes of a request's path, query string and header fields. Header fields may take up at most 16 KiB of
   * that.
   */
  readonly maximumHeadBytes: number;
  /** Time limit for the head of a request, from the start of the connection or request. */
  readonly headTimeoutMilliseconds: number;
  /** Time limit for a whole request, from its first byte to the end of its body. */
  readonly requestTimeoutMilliseconds: number;
  /** How long an idle connection stays open. */
  readonly idleTimeoutMilliseconds: number;
  /** Time limit for the client to receive the whole response. */
  readonly answerTimeoutMilliseconds: number;
  /** Time limit for receiving the rest of a body after the response was sent. */
  readonly unreadBodyTimeoutMilliseconds: number;
  /** Interval between checks of the timeouts. */
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
  maximumHeadBytes: 16 * 1024,
  headTimeoutMilliseconds: 10_000,
  requestTimeoutMilliseconds: 30_000,
  idleTimeoutMilliseconds: 75_000,
  answerTimeoutMilliseconds: 30_000,
  unreadBodyTimeoutMilliseconds: 5000,
  checkEveryMilliseconds: 1000,
};

/** Name of the actors in a program's settings, and the default limit of in-flight requests per actor. */
export interface ActorSetting {
  readonly actor: 'SERVER' | 'USER';
  readonly maximumRequests: number;
}

const counts = { minimum: 1, maximum: 1_000_000 } as const;
const bytes = { minimum: 1, maximum: 1024 ** 4 } as const;
const seconds = { minimum: 1, maximum: 3600 } as const;

/** Reads the HTTP limits from the environment. Reports conflicting limits as problems. */
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
    maximumHeadBytes: usual.maximumHeadBytes,
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
      `${reader.fullName('HEAD_TIMEOUT_SECONDS')} is longer than ${reader.fullName('REQUEST_TIMEOUT_SECONDS')}: set it to the same or less, because a head is part of its request.`,
    );
  }
  if (limits.maximumRequestsPerActor > limits.maximumRequestsInFlight) {
    const one = reader.fullName(`MAXIMUM_REQUESTS_PER_${actor}`);
    reader.problem(
      `${one} is more than ${reader.fullName('MAXIMUM_REQUESTS_IN_FLIGHT')} (${limits.maximumRequestsPerActor} and ${limits.maximumRequestsInFlight}): lower it, or raise the other, because one ${actor.toLowerCase()} could otherwise use all slots.`,
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
