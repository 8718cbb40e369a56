import type { EventQueue } from '../chat-api/event-queue.js';
import type { PushToken } from '../push-token.js';

/** The inputs of one sync. */
export interface SyncRun {
  readonly pushToken: PushToken;
  /** Opened before anything is sent, so that no event is missed. */
  readonly queue: EventQueue;
  /** When to stop waiting for the relay, in Unix milliseconds according to the device's clock. */
  readonly deadline: number;
  /** Whether to repeat a failed registration without backoff. */
  readonly retryNow: boolean;
}

/** Returns the UUID of the organization that this sync registers with, if the server reports it. */
export function realmOf({ realmUuid }: EventQueue): { readonly realmUuid?: string } {
  return realmUuid === undefined ? {} : { realmUuid };
}
