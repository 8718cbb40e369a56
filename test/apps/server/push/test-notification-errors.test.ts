import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { notified, type RelayReaction, refused, registered } from '../../../support/relay-stand-in.js';
import { type Account, ServerUnderTest, testPhone } from '../server-under-test.js';
import {
  createDevice,
  keyFields,
  tokenFields,
  tokenIdOf,
  tokenRegistered,
} from './client-device-under-test.js';

// The exact texts that stock clients show to users.
const failure = (status: number, code: string, msg: string) => [status, { result: 'error', msg, code }];
const noDevice = failure(400, 'NO_ACTIVE_PUSH_DEVICE', 'No active registered push device');
const unreachable = failure(
  502,
  'FAILED_TO_CONNECT_BOUNCER',
  'Network error while connecting to Zulip push notification service.',
);
const broken = failure(
  502,
  'INTERNAL_SERVER_ERROR_ON_BOUNCER',
  'Internal server error on Zulip push notification service, retry later.',
);
const misconfigured = failure(
  403,
  'ADMIN_ACTION_REQUIRED',
  'Push notification configuration issue on server, contact the server administrator or retry later.',
);
const withoutRelay = failure(
  400,
  'PUSH_SERVICE_NOT_CONFIGURED',
  'Server is not configured to use push notification service.',
);

interface Generation {
  /** Registers a phone while the relay accepts registrations. Returns the parameter that identifies it. */
  readonly register: (test: ServerUnderTest, account: Account) => Promise<Record<string, string>>;
  readonly registered: RelayReaction;
  /** The relay's response when it knows none of the phones. */
  readonly allGone: RelayReaction;
  /** Identifies a phone that the user does not have. */
  readonly unknown: Record<string, string>;
  /** An invalid phone identifier, and the resulting error message. */
  readonly invalid: readonly [Record<string, string>, string];
}

const older: Generation = {
  async register(test, account) {
    await test.register(account, testPhone('1').fields);
    return { push_account_id: '1' };
  },
  registered: registered(41),
  allGone: notified([41]),
  unknown: { push_account_id: '2' },
  invalid: [{ push_account_id: 'x' }, 'Invalid push_account_id: must be an integer of 64 bits'],
};

const newer: Generation = {
  async register(test, account) {
    const device_id = String(await createDevice(test, account));
    await test.register(account, { device_id, ...keyFields(7), ...tokenFields('token') });
    return { device_id };
  },
  registered: tokenRegistered,
  allGone: {
    status: 200,
    body: {
      result: 'success',
      msg: '',
      android_successfully_sent_count: 0,
      apple_successfully_sent_count: 0,
      delete_token_ids: [tokenIdOf('token')],
      realm_push_status: { can_push: true, expected_end_timestamp: null },
    },
  },
  unknown: { device_id: '999' },
  invalid: [{ device_id: 'x' }, 'Invalid device_id: must be an integer'],
};

describe.each([
  ['older', older],
  ['newer', newer],
])('a test notification in the %s generation', (_name, generation) => {
  let test: ServerUnderTest;
  let ada: Account;
  let accounts = 0;
  beforeAll(async () => {
    test = await ServerUnderTest.start();
  });
  beforeEach(async () => {
    accounts += 1;
    ada = await test.addAccount(`ada${accounts}@example.com`);
  });
  afterAll(() => test.close());

  async function activeDevice(): Promise<Record<string, string>> {
    test.relay.otherwise(generation.registered);
    const named = await generation.register(test, ada);
    await test.settle();
    return named;
  }
  const notify = async (fields: Record<string, string> = {}) => {
    const { status, body } = await test.ask(ada, 'POST', 'mobile_push/e2ee/test_notification', fields);
    return [status, body];
  };

  it.each<[string, RelayReaction, unknown[]]>([
    ['cuts the connection', 'cut', unreachable],
    ['responds with 500', { status: 500 }, broken],
    ['responds with 503', { status: 503 }, broken],
    ['responds with 429', refused(429, 'RATE_LIMIT_HIT'), broken],
    ['does not know the organisation', refused(403, 'MISSING_REMOTE_REALM'), misconfigured],
    ['refuses the server key', refused(401, 'UNAUTHORIZED'), misconfigured],
    ['refuses the request', refused(400, 'BAD_REQUEST'), misconfigured],
    ['knows none of the devices', generation.allGone, noDevice],
  ])('explains what is wrong when the relay %s', async (_case, reaction, answer) => {
    const named = await activeDevice();
    test.relay.otherwise(reaction);
    expect(await notify(named)).toEqual(answer);
    expect(test.relay.requests.at(-1)?.path).toBe('/api/v1/remotes/push/e2ee/notify');
  });

  it('explains what is wrong when the relay does not answer', async () => {
    await activeDevice();
    await test.stop();
    await test.boot({ isImpatient: true });
    test.relay.otherwise('silence');
    expect(await notify()).toEqual(unreachable);
    await test.stop();
    await test.boot();
  });

  it('is refused if there is no active device, or if the named device is not active', async () => {
    expect(await notify()).toEqual(noDevice);
    test.relay.otherwise({ status: 503 });
    const pending = await generation.register(test, ada);
    await test.settle();
    test.relay.requests.length = 0;
    for (const fields of [{}, pending, generation.unknown]) expect(await notify(fields)).toEqual(noDevice);
    const [fields, msg] = generation.invalid;
    expect(await notify(fields)).toEqual(failure(400, 'BAD_REQUEST', msg));
    expect(test.relay.requests).toEqual([]);
  });

  it('explains a refusal because of the relay’s plan, and sends nothing while push is off', async () => {
    await activeDevice();
    test.relay.otherwise(refused(400, 'PUSH_NOTIFICATIONS_DISALLOWED'));
    expect(await notify()).toEqual(misconfigured);
    test.relay.requests.length = 0;
    expect(await notify()).toEqual(misconfigured);
    expect(test.relay.requests).toEqual([]);
  });

  it('is refused by a server without a relay', async () => {
    const lonely = await ServerUnderTest.start({ withoutRelay: true });
    const eve = await lonely.addAccount('eve@example.com');
    const path = 'mobile_push/e2ee/test_notification';
    const { status, body } = await lonely.ask(eve, 'POST', path, generation.unknown);
    expect([status, body]).toEqual(withoutRelay);
    await lonely.close();
  });
});
