import type { RelayDeviceId } from '@waxwing/protocol';
import { dropDeadToken } from './client-devices/pending-tokens.js';
import { pushDeviceEvent } from './push-devices/push-device-state.js';
import { deadRegistrationCode, dropDeadRegistration } from './push-devices/push-device-store.js';
import type { AddressedEvent, ServerPushOptions } from './server-push-options.js';
import type { PushTransaction } from './tables.js';

type Options = Pick<ServerPushOptions, 'database' | 'publish'>;

// Registrations per transaction. Small, to keep transactions short on a server with many phones.
const batchSize = 200;

/**
 * Ends the active registrations of all devices of both generations. Publishes their events, so that phones register
 * again once push is enabled. Sends nothing to the relay. Returns the number of registrations that ended.
 */
export async function endRegistrations({ database, publish }: Options): Promise<number> {
  let ended = 0;
  for (const endSome of [endPushDevices, endClientDevices]) {
    for (;;) {
      const count = await database.write(async (transaction) => {
        const { found, events } = await endSome(transaction);
        await publish(transaction, events);
        return found;
      });
      ended += count;
      if (count < batchSize) break;
    }
  }
  return ended;
}

interface EndedBatch {
  readonly found: number;
  readonly events: readonly AddressedEvent[];
}

async function endPushDevices(transaction: PushTransaction): Promise<EndedBatch> {
  const rows = await transaction.db
    .selectFrom('push_devices')
    .select(['id', 'active_generation', 'relay_device_id'])
    .where('relay_device_id', 'is not', null)
    .where('active_generation', 'is not', null)
    .orderBy('id')
    .limit(batchSize)
    .$narrowType<{ active_generation: number; relay_device_id: RelayDeviceId }>()
    .execute();
  const events: AddressedEvent[] = [];
  for (const { id, active_generation: activeGeneration, relay_device_id: relayDeviceId } of rows) {
    const ended = await dropDeadRegistration(transaction, { id, activeGeneration, relayDeviceId });
    if (ended === undefined) continue;
    const event = pushDeviceEvent(ended.pushAccountId, deadRegistrationCode);
    events.push({ event, audience: [ended.userId] });
  }
  return { found: rows.length, events };
}

async function endClientDevices(transaction: PushTransaction): Promise<EndedBatch> {
  const rows = await transaction.db
    .selectFrom('client_devices')
    .select(['id', 'push_token_id', 'active_generation'])
    .where('push_token_id', 'is not', null)
    .orderBy('id')
    .limit(batchSize)
    .execute();
  const events: AddressedEvent[] = [];
  for (const row of rows) events.push(...(await dropDeadToken(transaction, row)));
  return { found: rows.length, events };
}
