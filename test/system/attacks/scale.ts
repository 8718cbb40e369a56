/** How much attackers do, and how closely is looked at what an honest user makes of it. */
export interface Scale {
  /** Requests of one kind of refusal. */
  readonly floodRequests: number;
  /** Of all kinds in turn so many each, where that is more. */
  readonly fewestOfEach: number;
  /** Connections that say nothing, as far as one process may have so many. */
  readonly silentConnections: number;
  /** How often a request is cut off after each of its bytes. */
  readonly cutRounds: number;
  /** Messages of a large channel that a member requests. */
  readonly memberMessages: number;
  /** Requests of the honest user before an attack, so that what they need anyway is no growth. */
  readonly warmingRequests: number;
  /** Requests of the honest user in the midst of an attack. */
  readonly measuredRequests: number;
}

/** What shows a mistake in minutes. */
export const gateScale: Scale = {
  floodRequests: 1000,
  fewestOfEach: 100,
  silentConnections: 4000,
  cutRounds: 1,
  memberMessages: 200,
  warmingRequests: 20,
  measuredRequests: 40,
};

/** What a process needs to have seen all of it a few times. */
export const warmingScale: Scale = { ...gateScale, floodRequests: 1, fewestOfEach: 20 };

/** What an attacker with one machine would do. */
export const fullScale: Scale = {
  floodRequests: 100_000,
  fewestOfEach: 100,
  silentConnections: 20_000,
  cutRounds: 20,
  memberMessages: 5000,
  warmingRequests: 40,
  measuredRequests: 600,
};

/** Limits that are small, so that attacks that reach them are small as well, and far above what an honest user asks for. */
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

/** The same for attacks at full scale, most of whose requests are then not refused for their number. */
export const fullLimits = { ...reachableLimits, notificationsPerMinute: 150_000 };
