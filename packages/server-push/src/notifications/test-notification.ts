import { ProtocolError, testNotificationParameters, testNotificationPath } from '@waxwing/protocol';
import { noAnswer, operation, rateLimitHit } from '@waxwing/service/http';
import { unixSeconds } from '@waxwing/service/lifecycle';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';
import { readRealmPushStatus } from '../relay-link/realm-push-status.js';
import { retryRefusal } from '../relay-link/retry-refusal.js';
import type { Sending } from './send-to-devices.js';
import { takeTestNotification } from './test-notification-limits.js';

type Context = Pick<ServerPushContext, 'authenticate' | 'clock' | 'database' | 'log' | 'relay' | 'testing'>;

/**
 * `POST /api/v1/mobile_push/e2ee/test_notification` (docs/protocol.md#mobile_pushe2eetest_notification): sends an encrypted
 * notification of type `test` to the user's active devices, or only to the device with the given `device_id` or
 * `push_account_id`.
 *
 * Refuses with PUSH_SERVICE_NOT_CONFIGURED, NO_ACTIVE_PUSH_DEVICE, RATE_LIMIT_HIT, FAILED_TO_CONNECT_BOUNCER,
 * INTERNAL_SERVER_ERROR_ON_BOUNCER or ADMIN_ACTION_REQUIRED.
 */
export const testNotification = operation({
  method: 'POST',
  path: testNotificationPath,
  summary: "Sends an encrypted test notification to the user's phones, or to one of them.",
  actor: person,
  parameters: testNotificationParameters,
  answer: noAnswer,
  codes: [
    'PUSH_SERVICE_NOT_CONFIGURED',
    'NO_ACTIVE_PUSH_DEVICE',
    'RATE_LIMIT_HIT',
    'FAILED_TO_CONNECT_BOUNCER',
    'INTERNAL_SERVER_ERROR_ON_BOUNCER',
    'ADMIN_ACTION_REQUIRED',
  ],
  async handle(context: Context, { actor: { lockUser, userId }, parameters, signal }) {
    const { clock, database, log, relay, testing } = context;
    const sender = relay.connection?.sender;
    if (sender === undefined) throw new ProtocolError('PUSH_SERVICE_NOT_CONFIGURED');
    const recipients = await sender.recipientsOf(userId, parameters);
    if (recipients.length === 0) throw new ProtocolError('NO_ACTIVE_PUSH_DEVICE');
    if (!(await readRealmPushStatus(database.db)).canPush) throw new ProtocolError('ADMIN_ACTION_REQUIRED');
    const now = clock();
    const waitSeconds = await testing.run(userId, () =>
      database.write(async (transaction) => {
        await lockUser(transaction);
        return takeTestNotification(transaction, userId, recipients, now);
      }),
    );
    if (waitSeconds !== undefined) throw rateLimitHit('test notification', waitSeconds);
    const content = { type: 'test', time: unixSeconds(now) } as const;
    const sending = await sender.send({ userId, recipients, content, signal });
    if (sending.failure?.kind === 'refused-for-good') {
      const { code, message } = sending.failure;
      log.error({ code, message }, 'the relay refused a notification');
    }
    const refusal = refusalOf(sending);
    if (refusal !== undefined) throw refusal;
    return {};
  },
});

function refusalOf({ failure, taken }: Sending): ProtocolError | undefined {
  if (failure?.kind === 'retry') return retryRefusal(failure);
  if (failure !== undefined) return new ProtocolError('ADMIN_ACTION_REQUIRED');
  const areAllGone = taken.every(({ result }) => result.status === 'gone');
  return areAllGone ? new ProtocolError('NO_ACTIVE_PUSH_DEVICE') : undefined;
}
