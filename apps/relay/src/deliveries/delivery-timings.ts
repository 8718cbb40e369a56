import type { ApnsTimings } from './vendors/apns/connection.js';

/** How long things may take; what production uses is below, tests shorten it. */
export interface DeliveryTimings {
  /** How long a notify request may wait for vendors before what is unsent is stored: well under a server's 15 s. */
  readonly requestBudgetMilliseconds: number;
  /** Time for one request to FCM; Google asks for ten seconds at least. */
  readonly fcmTimeoutMilliseconds: number;
  readonly apns: ApnsTimings;
  /** Every delay before another try, and between probes of a refused credential, is divided by it. */
  readonly delayDivisor: number;
  /**
   * How often the queue's length is asked of the database, since other processes add to it and take from it, too, and
   * how often frozen deletions are looked at.
   */
  readonly queueCountMilliseconds: number;
  /** How often the processes tell each other what servers took from their quotas. */
  readonly quotaExchangeMilliseconds: number;
}

export const productionTimings: DeliveryTimings = {
  requestBudgetMilliseconds: 8000,
  fcmTimeoutMilliseconds: 10_000,
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
