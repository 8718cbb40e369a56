import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notified, refused, registered } from '../../support/relay-stand-in.js';
import { relayServerKey, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
beforeEach(async () => {
  test = await ServerUnderTest.start();
});
afterEach(() => test.close());

describe('what a server stores, logs and sends', () => {
  it('contains no push token, API key or server key, and the log also contains no e-mail address or ciphertext', async () => {
    const ada = await test.addAccount('ada.lovelace@example.com');
    const phones = ['1', '2', '3', '4'].map((id) => testPhone(id));
    const answers: unknown[] = [];
    test.relay.next(registered(1), refused(400, 'BAD_REQUEST'), refused(401, 'UNAUTHORIZED'), 'cut');
    test.relay.otherwise(notified());
    for (const phone of phones) {
      answers.push(await test.register(ada, phone.fields));
      await test.settle();
    }
    answers.push(await test.ask(ada, 'POST', 'mobile_push/e2ee/test_notification'));
    answers.push(await test.ask(ada, 'POST', 'register'));
    answers.push(await test.register(ada, { ...(phones[0]?.fields ?? {}), push_public_key: 'wrong' }));
    const wrong = { ...ada, authorization: `Basic ${Buffer.from(`${ada.email}:guess`).toString('base64')}` };
    answers.push(await test.register(wrong, phones[0]?.fields ?? {}));
    await test.settle();

    const database = test.databaseBytes().toString('latin1');
    const logged = test.logged.text();
    const answered = JSON.stringify(answers);
    expect(database).toContain(ada.email);
    expect(database).toContain(phones[3]?.fields.encrypted_push_registration);
    expect(logged).toContain('POST /api/v1/mobile_push/register');
    for (const secret of [ada.apiKey, relayServerKey, ...phones.map(({ token }) => token)]) {
      const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
      for (const text of [secret, base64]) {
        expect(database).not.toContain(text);
        expect(logged).not.toContain(text);
        expect(answered).not.toContain(text);
      }
    }
    const private_ = [ada.email, 'guess', ada.authorization, relayServerKey];
    for (const { fields } of phones) {
      private_.push(fields.encrypted_push_registration ?? '', fields.push_public_key ?? '');
    }
    for (const text of private_) expect(logged).not.toContain(text);
  });

  it('contains no encrypted registration once the relay has accepted or rejected it', async () => {
    const ada = await test.addAccount('ada@example.com');
    test.relay.next(registered(1), refused(400, 'BAD_REQUEST'));
    for (const id of ['1', '2']) {
      await test.register(ada, testPhone(id).fields);
      await test.settle();
    }
    const rows = await test.server.database.db
      .selectFrom('push_devices')
      .select(['pending_encrypted_registration', 'pending_bouncer_public_key', 'pending_push_public_key'])
      .execute();
    const nothing = {
      pending_encrypted_registration: null,
      pending_bouncer_public_key: null,
      pending_push_public_key: null,
    };
    expect(rows).toEqual([nothing, nothing]);
  });
});
