import type { PushAccountId } from '@waxwing/protocol/phone';
import type { PushDeviceState } from '../../chat-api/event-queue.js';
import { createEventReader, type EventReaderOptions } from '../event-reader.js';

export interface DeviceWatchOptions extends EventReaderOptions {
  readonly pushAccountId: PushAccountId;
}

/** Watcher that waits for the outcome of registrations. */
export interface DeviceWatch {
  /** Returns the next state that is not `pending`, or `pending` if there is none before the deadline. */
  nextState(): Promise<PushDeviceState>;
}

const pending: PushDeviceState = { status: 'pending' };

/**
 * Watches the events of one PushDevice. The queue must be opened before the registration is sent, so that no event is
 * missed.
 */
export function createDeviceWatch({ pushAccountId, ...options }: DeviceWatchOptions): DeviceWatch {
  const readEvents = createEventReader(options);
  const unread: PushDeviceState[] = [];
  return {
    async nextState() {
      while (unread.length === 0) {
        const events = await readEvents();
        if (events === undefined) return pending;
        for (const { pushDevice } of events) {
          const isOwn = pushDevice?.pushAccountId === pushAccountId;
          if (isOwn && pushDevice.status !== 'pending') unread.push(pushDevice);
        }
      }
      return unread.shift() ?? pending;
    },
  };
}
