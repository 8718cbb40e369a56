import type { PushAccountId } from '@waxwing/protocol/phone';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import type { ChatApi } from '../chat-api/chat-api.js';
import type { EventQueue, PushDeviceState } from '../chat-api/event-queue.js';
import type { PhoneClock } from '../server-clock.js';

export interface DeviceWatchOptions {
  readonly api: ChatApi;
  readonly queue: EventQueue;
  readonly pushAccountId: PushAccountId;
  readonly clock: PhoneClock;
  /** When to stop waiting, in Unix milliseconds by `clock`. */
  readonly deadline: number;
}

/** Waits for the outcome of registrations. */
export interface DeviceWatch {
  /** Returns the next state other than `pending`; `pending` if none arrives before the deadline. */
  nextState(): Promise<PushDeviceState>;
}

const pending: PushDeviceState = { status: 'pending' };

/**
 * Watches the events of one PushDevice. The queue must be opened before the registration is sent, so that no event is
 * missed.
 */
export function createDeviceWatch({
  api,
  queue,
  pushAccountId,
  clock,
  deadline,
}: DeviceWatchOptions): DeviceWatch {
  let lastEventId = queue.lastEventId;
  const unread: PushDeviceState[] = [];

  async function readEvents(timeoutMilliseconds: number): Promise<void> {
    const events = await api.getEvents({ queueId: queue.queueId, lastEventId, timeoutMilliseconds });
    for (const { id, pushDevice } of events) {
      lastEventId = Math.max(lastEventId, id);
      if (pushDevice?.pushAccountId === pushAccountId && pushDevice.status !== 'pending')
        unread.push(pushDevice);
    }
  }

  return {
    async nextState() {
      while (unread.length === 0) {
        const remaining = deadline - clock();
        if (remaining <= 0) return pending;
        try {
          await readEvents(remaining);
        } catch (error) {
          // The server has the registration: not learning its outcome in time is no failure.
          if (error instanceof UnreachableError || error instanceof ApiError) return pending;
          throw error;
        }
      }
      return unread.shift() ?? pending;
    },
  };
}
