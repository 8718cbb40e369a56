import { ProtocolError, type registerClientPushParameters } from '@waxwing/protocol';
import type { z } from 'zod';
import type { ServerPushContext } from '../context.js';
import { rateRefusal } from '../registrations/registration-rate.js';
import type { PushActor } from '../server-push-options.js';
import { requireDevice } from './client-device-store.js';
import { missingGroups } from './device-refusals.js';
import { readPushChange } from './push-change.js';

type Context = Pick<ServerPushContext, 'changing' | 'database' | 'relay'>;

/**
 * Accepts a key, a token, or both for a device of the newer generation. `device` events report the changes, and the
 * relay's decision on a token.
 *
 * @throws ProtocolError as `registerPush` describes.
 */
export async function registerClientPush(
  { changing, database, relay }: Context,
  actor: PushActor,
  parameters: z.output<typeof registerClientPushParameters>,
): Promise<void> {
  if (relay.kind === 'not-configured') throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
  const { device_id: deviceId } = parameters;
  const change = readPushChange(parameters);
  if (change === undefined) {
    // As on stock servers, an unknown device is reported before missing parameters.
    await requireDevice(database.db, actor.userId, deviceId);
    throw missingGroups();
  }
  const outcome = await changing.change(actor, deviceId, change);
  if (outcome.kind === 'refused') throw outcome.error;
  if (outcome.kind === 'limited' || outcome.kind === 'busy') throw rateRefusal(outcome);
}
