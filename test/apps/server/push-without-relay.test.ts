import { errorCodes } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registered } from '../../support/relay-stand-in.js';
import { type Account, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
let ada: Account;

beforeEach(async () => {
  test = await ServerUnderTest.start();
  ada = await test.addAccount('Ada@example.com');
});
afterEach(() => test.close());

describe('a server without a relay', () => {
  it('refuses registrations after it checks for missing parameters and before it checks their contents', async () => {
    const lonely = await ServerUnderTest.start({ withoutRelay: true });
    const eve = await lonely.addAccount('eve@example.com');
    const { fields } = testPhone('1');
    for (const sent of [fields, { ...fields, push_public_key: 'nonsense' }]) {
      const answer = await lonely.register(eve, sent);
      expect([answer.status, answer.body]).toEqual([
        400,
        {
          result: 'error',
          msg: errorCodes.PUSH_SERVICE_NOT_CONFIGURED.message,
          code: 'PUSH_SERVICE_NOT_CONFIGURED',
        },
      ]);
    }
    const { token_kind: _, ...incomplete } = fields;
    expect((await lonely.register(eve, incomplete)).body.code).toBe('REQUEST_VARIABLE_MISSING');
    expect(await lonely.pushDevices(eve)).toEqual({});
    await lonely.close();
  });

  it('keeps registrations that it accepted with a relay, and forwards them when it has a relay again', async () => {
    test.relay.otherwise({ status: 503 });
    await test.register(ada, testPhone('1').fields);
    await test.stop();
    const lonely = await ServerUnderTest.start({ withoutRelay: true, folder: test.folder });
    lonely.now = test.now + 5000;
    await lonely.settle();
    expect(await lonely.pushDevices(ada)).toEqual({ '1': { status: 'pending', error_code: null } });
    await lonely.stop();
    await lonely.relay.close();
    test.relay.otherwise(registered(1));
    test.now += 3_600_000;
    await test.boot();
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ '1': { status: 'active', error_code: null } });
  });
});
