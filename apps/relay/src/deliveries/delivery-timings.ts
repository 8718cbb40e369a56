import type { ApnsTimings } from './vendors/apns/connection.js';

/** Delivery timeouts and intervals. Production uses `productionTimings`; tests use shorter values. */
export interface DeliveryTimings {
  /**
   * How long a notify request waits for vendors before the relay queues the unfinished notifications. Must be well
   * below the servers' timeout of 15 seconds.
   */
  readonly requestBudgetMilliseconds: number;
  /** Timeout of one request to FCM. Google recommends at least ten seconds. */
  readonly fcmTimeoutMilliseconds: number;
  /** Timeout of one request to a push service, including the response. */
  readonly webPushTimeoutMilliseconds: number;
  readonly apns: ApnsTimings;
  /** Divides every retry delay, and the interval between probes of a refused credential. */
  readonly delayDivisor: number;
  /**
   * Interval of the periodic work: recounting the queue, which other processes also change, and reviewing outages and
   * frozen deletions.
   */
  readonly queueCountMilliseconds: number;
  /** Interval at which processes exchange the quota usage of servers. */
  readonly quotaExchangeMilliseconds: number;
}

export const productionTimings: DeliveryTimings = {
  requestBudgetMilliseconds: 8000,
  fcmTimeoutMilliseconds: 10_000,
  webPushTimeoutMilliseconds: 10_000,
  apns: {
    requestTimeoutMilliseconds: 10_000,
    connectTimeoutMilliseconds: 10_000,
    pingAfterIdleMilliseconds: 10 * 60_000,
    pingTimeoutMilliseconds: 10_000,
  },
  delayDivisor: 1,
  queueCountMilliseconds: 60_000,
  quotaExchangeMilliseconds: 1000,
};
