import { relayRevokePath } from '@waxwing/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { computeTokenId } from '#relay/registrations/store/addressee.js';
import fc from '../../../support/fast-check.js';
import { registrationVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.js';
import { accountForm, ofAccount, revocation } from './revocation-form.js';
import { tokenForm } from './token-form.js';

const { now: seconds } = registrationVectors();

eachBackend((backend) => {
  let relay: RelayUnderTest;
  let address = 0;
  beforeAll(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl(), { RELAY_TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => relay.close());

  async function revoke(form: Record<string, string>): Promise<{ readonly status: number }> {
    address += 1;
    const answer = await relay.app.inject({
      method: 'POST',
      url: relayRevokePath,
      payload: new URLSearchParams(form).toString(),
      headers: {
        'x-forwarded-for': `192.0.${address % 256}.${Math.floor(address / 256)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    return { status: answer.statusCode };
  }

  it('no device of a revoked registration remains, for any order and concurrency of requests', async () => {
    const step = fc.record({
      kind: fc.constantFrom('register', 'revoke'),
      account: fc.constantFrom(undefined, '1', '2'),
      token: fc.constantFrom('one', 'two'),
      age: fc.integer({ min: 0, max: 5 }),
    });
    type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
    const nameOf = ({ account, token }: Step) => `${account ?? computeTokenId(token)} ${token}`;
    const send = ({ kind, account, token, age }: Step) => {
      const timestamp = seconds - age;
      if (kind === 'revoke') {
        const fields = { revoked_token: token, timestamp };
        return revoke(account === undefined ? revocation(fields) : ofAccount(account, fields));
      }
      const fields = { token, timestamp };
      return relay.register(account === undefined ? tokenForm(fields) : accountForm(account, fields));
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
        async (rounds) => {
          for (const table of ['relay_devices', 'revocations'] as const)
            await relay.database.db.deleteFrom(table).execute();
          const revoked = new Map<string, number>();
          for (const round of rounds) {
            const answers = await Promise.all(round.map(send));
            for (const [index, each] of round.entries()) {
              const date = seconds - each.age;
              const name = nameOf(each);
              if (each.kind === 'revoke') revoked.set(name, Math.max(date, revoked.get(name) ?? 0));
              // A registration that is alone in its round is refused if and only if it is revoked.
              if (each.kind === 'register' && round.length === 1)
                expect(answers[index]?.status === 200).toBe(date > (revoked.get(name) ?? 0));
            }
            const rows = await relay.devices();
            for (const row of rows) {
              const [token] = ['one', 'two'].filter(
                (each) => row.token_lookup === relay.context.tokenVault.lookups(each)[0],
              );
              const id = row.push_account_id?.replace('token:', '');
              expect(row.dated_at ?? 0).toBeGreaterThan(1000 * (revoked.get(`${id} ${token}`) ?? 0));
            }
            if (round.length > 1) continue;
            // No valid registration is lost: each name has a row if it was accepted after its last revocation.
            const [only] = round;
            if (only?.kind !== 'register' || (revoked.get(nameOf(only)) ?? 0) >= seconds - only.age) continue;
            expect(rows.some(({ dated_at }) => dated_at === 1000 * (seconds - only.age))).toBe(true);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
