/** Size of the attacks, and number of measurements. */
export interface Scale {
  /** Number of requests per kind of refusal. */
  readonly floodRequests: number;
  /** Minimum number of requests per kind when all kinds alternate. */
  readonly fewestOfEach: number;
  /** Number of idle connections. Limited further by what one process can open. */
  readonly silentConnections: number;
  /** Number of times that a request is cut off after each of its bytes. */
  readonly cutRounds: number;
  /** Number of messages in a large channel that a member requests. */
  readonly memberMessages: number;
  /** Number of other users of the organization. A member can add all of them to channels and groups. */
  readonly people: number;
  /**
   * Number of the honest user's warm-up requests before an attack. Afterwards, memory that these requests always need
   * does not count as growth.
   */
  readonly warmingRequests: number;
  /** Number of the honest user's requests during an attack. */
  readonly measuredRequests: number;
}

/** Scale of the test suite: large enough to reveal a mistake within minutes. */
export const gateScale: Scale = {
  floodRequests: 1000,
  fewestOfEach: 100,
  silentConnections: 4000,
  cutRounds: 1,
  memberMessages: 200,
  people: 500,
  warmingRequests: 20,
  measuredRequests: 40,
};

/** Scale of a warm-up: each program handles every kind of request several times. */
export const warmingScale: Scale = { ...gateScale, floodRequests: 1, fewestOfEach: 20 };

/** Scale of the largest attacks that one machine can run. */
export const fullScale: Scale = {
  floodRequests: 100_000,
  fewestOfEach: 100,
  silentConnections: 20_000,
  cutRounds: 20,
  memberMessages: 5000,
  // With five channels, creates as many subscriptions as one request may.
  people: 2000,
  warmingRequests: 40,
  measuredRequests: 600,
};

/** Limits that a small attack reaches, but that are far above an honest user's needs. */
export const reachableLimits = {
  settings: {
    MAXIMUM_CONNECTIONS: '400',
    MAXIMUM_REQUESTS_IN_FLIGHT: '100',
    HEAD_TIMEOUT_SECONDS: '2',
    REQUEST_TIMEOUT_SECONDS: '3',
    IDLE_TIMEOUT_SECONDS: '3',
    ANSWER_TIMEOUT_SECONDS: '3',
  },
  requestsPerActor: 30,
  notificationsPerMinute: 20_000,
};

/** Limits for attacks at full scale. High enough that the rate limit refuses few of the requests. */
export const fullLimits = { ...reachableLimits, notificationsPerMinute: 150_000 };
