import { integerParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';
import { eventsTo, hasState, readDeviceStates } from './device-states.js';

const heartbeatMilliseconds = 50_000;

type Context = Pick<ServerPushContext, 'authenticate' | 'database' | 'deviceWatch'>;

/**
 * `GET /api/v1/events`, for hosts without a chat API. Waits until the state of the user's registrations differs from
 * the state identified by `last_event_id`, then returns the state of all registrations. After 50 seconds without a
 * change, returns a heartbeat.
 */
export const getEvents = operation({
  method: 'GET',
  path: '/api/v1/events',
  summary: "Returns the user's registrations after a change; long-polls if there is none.",
  actor: person,
  parameters: z.object({ queue_id: z.string(), last_event_id: integerParameter }),
  answer: z.object({ events: z.array(z.looseObject({ id: z.number().int(), type: z.string() })) }),
  codes: [],
  lane: (head) => head.queryParameter('queue_id'),
  handle(context: Context, { actor: { userId }, parameters: { last_event_id: lastEventId }, signal }) {
    const end = AbortSignal.any([signal, AbortSignal.timeout(heartbeatMilliseconds)]);
    return context.deviceWatch.watch(userId, end, async (changed) => {
      const states = await readDeviceStates(context, userId);
      if (!hasState(lastEventId, states)) return { events: eventsTo(states, lastEventId) };
      await changed();
      return { events: eventsTo(await readDeviceStates(context, userId), lastEventId) };
    });
  },
});
