import {
  formatPushAccountId,
  ProtocolError,
  testNotificationParameters,
  testNotificationPath,
} from '@waxwing/protocol';
import type { Operation } from '@waxwing/service/http';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { OneAtATime } from '../one-at-a-time.js';
import { activePushDevices } from '../push-devices/push-device-store.js';
import { rateLimitHit } from '../rate-limit-hit.js';
import { retryRefusal } from '../relay-link/retry-refusal.js';
import { requirePerson } from '../require-person.js';
import type { PushActor, ServerPushOptions } from '../server-push-options.js';
import type { NotificationSender, SendOutcome } from './notification-sender.js';
import { takeTestNotification } from './test-notification-limits.js';

export interface TestNotificationOptions
  extends Pick<ServerPushOptions, 'authenticate' | 'clock' | 'database' | 'log'> {
  /** `undefined` while the organisation has no relay. */
  readonly sender: NotificationSender | undefined;
}

/**
 * `POST /api/v1/mobile_push/e2ee/test_notification` (push registration protocol): sends an encrypted notification of
 * type `test` to the user's active devices, or to the one of `push_account_id`. Refuses with
 * PUSH_SERVICE_NOT_CONFIGURED, NO_ACTIVE_PUSH_DEVICE, RATE_LIMIT_HIT, FAILED_TO_CONNECT_BOUNCER,
 * INTERNAL_SERVER_ERROR_ON_BOUNCER or ADMIN_ACTION_REQUIRED.
 */
export function testNotification(options: TestNotificationOptions): Operation<PushActor> {
  const { authenticate, clock, database, log, sender } = options;
  const oneAtATime = new OneAtATime();
  return {
    method: 'POST',
    path: testNotificationPath,
    authenticate: (head) => requirePerson(authenticate, head),
    async handle(request, { userId }) {
      const { push_account_id: id } = request.parameters(testNotificationParameters);
      if (sender === undefined) throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
      const only = id === undefined ? undefined : formatPushAccountId(id);
      const devices = await activePushDevices(database.db, userId, only);
      if (devices.length === 0) throw new ProtocolError('NO_ACTIVE_PUSH_DEVICE');
      const now = clock();
      const waitSeconds = await oneAtATime.run(userId, () =>
        database.write((transaction) => takeTestNotification(transaction, userId, devices, now)),
      );
      if (waitSeconds !== undefined) throw rateLimitHit('test notification', waitSeconds);
      const content = { type: 'test', time: unixSeconds(now) } as const;
      const outcome = await sender.send(userId, devices, content, request.signal);
      if (outcome.kind === 'refused-for-good') {
        log.error({ code: outcome.code, message: outcome.message }, 'the relay refused a notification');
      }
      const refusal = refusalOf(outcome);
      if (refusal !== undefined) throw refusal;
      return {};
    },
  };
}

function refusalOf(outcome: SendOutcome): ProtocolError | undefined {
  if (outcome.kind === 'retry') return retryRefusal(outcome);
  if (outcome.kind === 'refused-for-good') return new ProtocolError('ADMIN_ACTION_REQUIRED');
  return outcome.dropped === outcome.devices ? new ProtocolError('NO_ACTIVE_PUSH_DEVICE') : undefined;
}
