import { randomUUID } from 'node:crypto';
import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';
import { firstEventId, readDeviceStates } from './device-states.js';
import { clientDeviceShape, pushDeviceShape } from './state-shapes.js';

/** The first feature level of the published API that has all operations of this package. */
const featureLevel = 470;

/**
 * `POST /api/v1/register`, for hosts without a chat API: returns the state of the user's registrations, and a queue id
 * for `GET /api/v1/events`.
 */
export const register = operation({
  method: 'POST',
  path: '/api/v1/register',
  summary: "Returns the state of the user's registrations, and the id of an event queue.",
  actor: person,
  parameters: z.object({ event_types: z.string().optional(), fetch_event_types: z.string().optional() }),
  answer: z.object({
    queue_id: z.string(),
    last_event_id: z.number().int(),
    user_id: z.number().int(),
    realm_url: z.string(),
    realm_uuid: z.string(),
    zulip_feature_level: z.number().int(),
    push_devices: z.record(z.string(), pushDeviceShape),
    devices: z.record(z.string(), clientDeviceShape),
  }),
  codes: [],
  async handle(
    context: Pick<ServerPushContext, 'authenticate' | 'database' | 'realm'>,
    { actor: { userId } },
  ) {
    const states = await readDeviceStates(context, userId);
    return {
      queue_id: randomUUID(),
      last_event_id: firstEventId(states),
      user_id: userId,
      realm_url: context.realm.url,
      realm_uuid: context.realm.uuid,
      zulip_feature_level: featureLevel,
      ...states,
    };
  },
});
