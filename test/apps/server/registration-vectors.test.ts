import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registrationVectors, relayProtocolVectors } from '../../support/protocol-vectors.js';
import { refused, registered } from '../../support/relay-stand-in.js';
import { type Account, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
let ada: Account;
beforeAll(async () => {
  // A high limit, because one user sends all registrations.
  test = await ServerUnderTest.start({ registrationsPerHour: 1000 });
  ada = await test.addAccount('ada@example.com');
});
afterAll(() => test.close());

async function send(id: string, sealed: string, bouncerPublicKey: string) {
  const before = test.relay.requests.length;
  const fields = {
    ...testPhone(id).fields,
    bouncer_public_key: bouncerPublicKey,
    encrypted_push_registration: sealed,
  };
  const { status, body } = await test.register(ada, fields);
  await test.settle();
  const forwarded = test.relay.requests
    .slice(before)
    .map((request) => new URLSearchParams(request.body).get('encrypted_push_registration'));
  const devices = (await test.pushDevices(ada)) as Record<string, unknown>;
  return { status, code: body.code, forwarded, device: devices[id] };
}

describe('registration vectors sent to the server', () => {
  const { bouncer_public_key: bouncerPublicKey, registrations } = relayProtocolVectors();

  it.each(registrations)('the relay gets the $kind registration unchanged', async (vector) => {
    test.relay.next(registered(7));
    expect(await send(`1${vector.len}`, vector.sealed, bouncerPublicKey)).toEqual({
      status: 200,
      code: undefined,
      forwarded: [vector.sealed],
      device: { status: 'active', error_code: null },
    });
  });

  const { vectors } = registrationVectors();

  it.each(vectors.map((vector, index) => ({ ...vector, id: String(-1 - index) })))(
    'a registration ends as the relay decides, or is refused immediately: $name',
    async ({ id, expect: expected, encrypted_push_registration: sealed, bouncer_public_key: key }) => {
      const code = 'error' in expected ? expected.error : null;
      test.relay.otherwise(code === null ? registered(7) : refused(400, code));
      const sent = await send(id, sealed, key);
      if (sent.status === 200) {
        const status = code === null ? 'active' : 'failed';
        expect(sent.device).toEqual({ status, error_code: code });
        expect(sent.forwarded).toEqual([sealed.replace(/[\t\n\v\f\r ]/g, '')]);
      } else {
        expect([sent.status, sent.code, sent.forwarded, sent.device]).toEqual([
          400,
          'BAD_REQUEST',
          [],
          undefined,
        ]);
        expect(code).not.toBeNull();
      }
    },
  );
});
