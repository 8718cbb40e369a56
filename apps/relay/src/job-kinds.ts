import { deliveryJobKind } from './deliveries/queue/delivery-queue.js';

/** The relay's job kinds, without scheduled jobs. */
export const relayJobKinds: readonly string[] = [deliveryJobKind];
