import { deliveryJobKind } from './deliveries/queue/delivery-queue.js';

/** Kinds of the relay's jobs, without scheduled jobs. */
export const relayJobKinds: readonly string[] = [deliveryJobKind];
