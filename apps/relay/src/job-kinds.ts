import { deliveryJobKind } from './deliveries/queue/delivery-queue.js';

/** Kinds of all jobs of the relay, except those of schedules. */
export const relayJobKinds: readonly string[] = [deliveryJobKind];
