import { readRelayLinkStatus } from '@waxwing/server-push';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refused, registered } from '../../support/relay-stand-in.js';
import { type Account, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
let ada: Account;
beforeEach(async () => {
  test = await ServerUnderTest.start();
  ada = await test.addAccount('ada@example.com');
});
afterEach(() => test.close());

const status = () => readRelayLinkStatus(test.server.database.db);
const errorsLogged = () => test.logged.lines().filter(({ level }) => level === 'error');

describe('the link to the relay', () => {
  it('is untested at first, and working after any response from the relay, even a refusal', async () => {
    expect((await status()).state).toBe('untested');
    test.relay.otherwise(refused(400, 'REQUEST_EXPIRED'));
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    expect(await status()).toEqual({
      state: 'working',
      lastSuccessAt: test.now,
      failingSince: undefined,
      lastError: undefined,
    });
  });

  it('does not bring pending jobs forward after a short failure', async () => {
    test.relay.otherwise({ status: 503, headers: { 'retry-after': '600' } });
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    test.now += 29_000;
    test.relay.otherwise(registered(1));
    await test.register(ada, testPhone('2').fields);
    await test.settle();
    expect(await test.pushDevices(ada)).toMatchObject({ 1: { status: 'pending' }, 2: { status: 'active' } });
  });

  it('is stored as working even if bringing pending jobs forward fails, and the failure is logged', async () => {
    test.relay.otherwise({ status: 503, headers: { 'retry-after': '600' } });
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    await sql`create trigger refuse before update on jobs
      when old.leased_until is null and new.leased_until is null
      begin select raise(abort, 'refused'); end`.execute(test.server.database.db);
    test.now += 31_000;
    test.relay.otherwise(registered(1));
    await test.register(ada, testPhone('2').fields);
    await test.settle();
    await expect
      .poll(() => test.logged.text())
      .toContain('pending jobs for the relay could not be rescheduled; each runs at its original time');
    expect(test.logged.text()).not.toContain('could not be stored');
    expect((await status()).state).toBe('working');
    expect(await test.pushDevices(ada)).toMatchObject({ 1: { status: 'pending' }, 2: { status: 'active' } });
  });

  it('shows administrators when and why it failed until it recovers, and logs each change once', async () => {
    const start = test.now;
    test.relay.otherwise(refused(401, 'UNAUTHORIZED', 'key does not match'));
    await test.register(ada, testPhone('1').fields);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await test.settle();
      test.now += 60_000;
    }
    expect(await status()).toMatchObject({
      state: 'failing',
      failingSince: start,
      lastSuccessAt: undefined,
      lastError: { reason: 'the relay answered 401: key does not match' },
    });
    expect(errorsLogged()).toMatchObject([{ reason: 'the relay answered 401: key does not match' }]);

    test.relay.otherwise({ status: 502 });
    await test.settle();
    expect(await status()).toMatchObject({
      failingSince: start,
      lastError: { at: test.now, reason: 'the relay answered 502' },
    });
    expect(errorsLogged()).toHaveLength(2);

    test.relay.otherwise(registered(1));
    test.now += 3_600_000;
    await test.settle();
    expect(await status()).toMatchObject({
      state: 'working',
      failingSince: undefined,
      lastSuccessAt: test.now,
    });
    expect(test.logged.text()).toContain('the relay answers again');
    expect(errorsLogged()).toHaveLength(2);
  });
});
