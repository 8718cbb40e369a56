import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { type Account, ServerUnderTest } from '../server-under-test.js';

const path = '/api/v1/remotes/push/e2ee/revoke';
const bouncer_public_key = Buffer.alloc(32, 7).toString('base64');
const revocation = { bouncer_public_key, encrypted_push_revocation: 'AAAA+/==' };
const done = { status: 200, body: { result: 'success', msg: '' } };
const hour = 3_600_000;

eachBackend((backend) => {
  describe('POST /mobile_push/revoke', () => {
    let test: ServerUnderTest;
    let ada: Account;
    beforeEach(async () => {
      test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
      ada = await test.addAccount('ada@example.com');
    });
    afterEach(() => test.close());

    const revoke = (account: Account, fields: Record<string, string> = revocation) =>
      test.ask(account, 'POST', 'mobile_push/revoke', fields);
    const forwarded = () =>
      test.relay.requests
        .filter((request) => request.path === path)
        .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));

    it('forwards the revocation unchanged, with the server’s credentials', async () => {
      test.relay.otherwise(done);
      const answer = await revoke(ada);
      expect([answer.status, answer.body]).toEqual([200, { result: 'success', msg: '' }]);
      await test.settle();
      expect(forwarded()).toEqual([revocation]);
      expect(test.relay.requests.at(-1)?.headers.authorization).toMatch(/^Basic /);
    });

    it('retries while the relay is down, even after a restart', async () => {
      test.relay.otherwise({ status: 503 });
      expect((await revoke(ada)).status).toBe(200);
      await test.settle();
      await test.stop();
      await test.boot();
      test.relay.otherwise(done);
      test.now += hour;
      await test.settle();
      const asked = forwarded().length;
      expect(asked).toBeGreaterThan(1);
      test.now += hour;
      await test.settle();
      expect(forwarded()).toHaveLength(asked);
    });

    it.each([
      ['does not know the operation, like stock relays', { status: 404, body: '<h1>Not Found</h1>' }],
      [
        'refuses the revocation',
        { status: 400, body: { result: 'error', msg: '', code: 'INVALID_BOUNCER_PUBLIC_KEY' } },
      ],
    ])('sends only one request to a relay that %s', async (_, answer) => {
      test.relay.otherwise(answer);
      await revoke(ada);
      await test.settle();
      test.now += 24 * hour;
      await test.settle();
      expect(forwarded()).toHaveLength(1);
    });

    it('refuses bots, invalid revocations, and revocations above the limit for registrations', async () => {
      test.relay.otherwise(done);
      const bot = await test.addAccount('bot@example.com', { isBot: true });
      expect((await revoke(bot)).body).toMatchObject({ code: 'BAD_REQUEST' });
      for (const name of Object.keys(revocation)) {
        const { [name]: _missing, ...others } = revocation as Record<string, string>;
        expect((await revoke(ada, others)).body).toMatchObject({ code: 'REQUEST_VARIABLE_MISSING' });
        const msg = `Invalid ${name}`;
        for (const wrong of ['', name === 'bouncer_public_key' ? 'x' : 'A'.repeat(72_004)]) {
          const { body } = await revoke(ada, { ...revocation, [name]: wrong });
          expect(body).toMatchObject({ code: 'BAD_REQUEST', msg });
        }
      }
      for (let sent = 0; sent < 60; sent += 1) expect((await revoke(ada)).status).toBe(200);
      expect((await revoke(ada)).body).toMatchObject({ code: 'RATE_LIMIT_HIT' });
      await test.settle();
      expect(forwarded()).toHaveLength(60);
    });
  });

  it('POST /mobile_push/revoke without a relay says that push is not configured', async () => {
    const test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl(), withoutRelay: true });
    const ada = await test.addAccount('ada@example.com');
    const { body } = await test.ask(ada, 'POST', 'mobile_push/revoke', revocation);
    expect(body).toMatchObject({ code: 'PUSH_SERVICE_NOT_CONFIGURED' });
    await test.close();
  });
});
