/** Size of the attacks, and number of measurements. */
export interface Scale {
  /** Requests per kind of refusal. */
  readonly floodRequests: number;
  /** Minimum requests per kind when all kinds alternate. */
  readonly fewestOfEach: number;
  /** Idle connections, limited by what one process may open. */
  readonly silentConnections: number;
  /** How often a request is cut off after each of its bytes. */
  readonly cutRounds: number;
  /** Messages of a large channel that a member requests. */
  readonly memberMessages: number;
  /** Other users of the organization. A member can subscribe all of them to channels and add them to groups. */
  readonly people: number;
  /**
   * Warm-up requests of the honest user before an attack, so that memory that they always need does not count as
   * growth.
   */
  readonly warmingRequests: number;
  /** Requests of the honest user during an attack. */
  readonly measuredRequests: number;
}

/** Large enough to reveal a mistake within minutes. */
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

/** Enough for a process to have handled everything a few times. */
export const warmingScale: Scale = { ...gateScale, floodRequests: 1, fewestOfEach: 20 };

/** Attacks that one machine can run. */
export const fullScale: Scale = {
  floodRequests: 100_000,
  fewestOfEach: 100,
  silentConnections: 20_000,
  cutRounds: 20,
  memberMessages: 5000,
  // In five channels, these make as many subscriptions as one request may create.
  people: 2000,
  warmingRequests: 40,
  measuredRequests: 600,
};

/** Limits low enough that a small attack reaches them, but far above an honest user's needs. */
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
