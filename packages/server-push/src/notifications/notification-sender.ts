import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { RelayDeviceId, RelayNotifyAnswer, UserId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { Sodium } from '@waxwing/sodium';
import { pushDeviceEvent } from '../push-devices/push-device-state.js';
import {
  type ActivePushDevice,
  deadRegistrationCode,
  dropDeadRegistration,
} from '../push-devices/push-device-store.js';
import { enqueueRemoval } from '../push-devices/remove-relay-devices.js';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import type { PublishEvents, PushRealm } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import { encodeNotification } from './encode-notification.js';
import type { NotificationContent } from './notification-content.js';
import { sealNotification } from './seal-notification.js';

export interface NotificationSenderOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly link: RelayLink;
  readonly publish: PublishEvents;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
  readonly clock: Clock;
  readonly log: Log;
}

/** On `sent`, `dropped` of the `devices` are dead: the relay no longer knows them. */
export type SendOutcome =
  | { readonly kind: 'sent'; readonly devices: number; readonly dropped: number }
  | RelayRefusal
  | RelayRetry;

// The largest sealed and encoded notification takes about 4 KB; the relay's body limit is 1 MiB.
const maximumDevicesPerRequest = 200;
const removalDelayMilliseconds = 10 * 60_000;
/**
 * Splits devices into requests in which no relay id occurs twice: `delete_device_ids` names dead devices by id only.
 * After a restore, two devices of one user can share an id although only one is dead.
 */
function inRequests(devices: readonly ActivePushDevice[]): readonly ActivePushDevice[][] {
  const requests: Map<RelayDeviceId, ActivePushDevice>[] = [];
  for (const device of devices) {
    const { relayDeviceId: id } = device;
    const request = requests.find((each) => each.size < maximumDevicesPerRequest && !each.has(id));
    if (request === undefined) requests.push(new Map([[id, device]]));
    else request.set(id, device);
  }
  return requests.map((request) => [...request.values()]);
}

/** Seals a notification for each device and sends it to the relay. */
export class NotificationSender {
  readonly #options: NotificationSenderOptions;

  constructor(options: NotificationSenderOptions) {
    this.#options = options;
  }

  /**
   * Sends to devices of one user. Stops at the first request that the relay does not accept, and returns its outcome.
   */
  async send(
    userId: UserId,
    devices: readonly ActivePushDevice[],
    content: NotificationContent,
    signal?: AbortSignal,
  ): Promise<SendOutcome> {
    const { link, realm, sodium } = this.#options;
    const encoded = encodeNotification(realm, userId, content);
    let dropped = 0;
    for (const some of inRequests(devices)) {
      const requests = some.map((device) => sealNotification(sodium, device, content.type, encoded));
      const outcome = await link.notify(requests, signal);
      if (outcome.kind !== 'accepted') return outcome;
      dropped += await this.#dropDead(some, outcome.answer);
    }
    return { kind: 'sent', devices: devices.length, dropped };
  }

  /** Never rejects: a repeat would send to the living devices again. The relay names the dead ones each time. */
  async #dropDead(devices: readonly ActivePushDevice[], answer: RelayNotifyAnswer): Promise<number> {
    const deadIds = new Set<number | bigint>(answer.delete_device_ids);
    const dead = devices.filter(({ relayDeviceId }) => deadIds.has(relayDeviceId));
    if (dead.length === 0) return 0;
    const { log } = this.#options;
    const pushDevices = dead.map(({ id }) => id);
    try {
      await this.#remove(dead);
      log.info({ pushDevices }, 'dropped push devices that the relay does not know');
    } catch (err) {
      log.error({ err, pushDevices }, 'push devices that the relay does not know could not be dropped');
    }
    return dead.length;
  }

  async #remove(dead: readonly ActivePushDevice[]): Promise<void> {
    const { clock, database, publish } = this.#options;
    const now = clock();
    await database.write(async (transaction) => {
      // Delayed: a phone registers again at once after the event, and the relay may give it the same device id.
      await enqueueRemoval(database, transaction, {
        freed: dead,
        now,
        runAt: now + removalDelayMilliseconds,
      });
      for (const device of dead) {
        const gone = await dropDeadRegistration(transaction, device);
        if (gone === undefined) continue;
        const event = pushDeviceEvent(gone.pushAccountId, deadRegistrationCode);
        await publish(transaction, [{ event, audience: [gone.userId] }]);
      }
    });
  }
}
