import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const android = 'users/me/android_gcm_reg_id';
const apple = 'users/me/apns_device_token';
const token = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00deadbeef';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const ask = (method: 'POST' | 'DELETE', path: string, fields: Record<string, unknown>) =>
    organisation.ask('member', method, path, fields);

  it.each([
    [android, { token }],
    [apple, { token, appid: 'org.example.chat' }],
  ])('an unencrypted token for %s is refused, and the error says what to do', async (path, fields) => {
    const { status, body } = await ask('POST', path, fields);
    expect([status, body]).toEqual([
      400,
      {
        result: 'error',
        code: 'BAD_REQUEST',
        msg: 'This server sends only encrypted notifications, which this app does not support: update the app. The token was not stored.',
      },
    ]);
  });

  it.each([android, apple])(
    'removing an unencrypted token at %s fails, because none is stored',
    async (path) => {
      await ask('POST', path, { token, appid: 'org.example.chat' });
      const { status, body } = await ask('DELETE', path, { token });
      expect([status, body]).toEqual([
        400,
        { result: 'error', code: 'BAD_REQUEST', msg: 'Token does not exist' },
      ]);
    },
  );

  it.each([
    ['POST', android, {}, 'token'],
    ['DELETE', apple, {}, 'token'],
    ['POST', apple, { token }, 'appid'],
  ] as const)('%s %s requires its parameters: %o', async (method, path, fields, var_name) => {
    const { status, body } = await ask(method, path, fields);
    expect([status, body.code, body.var_name]).toEqual([400, 'REQUEST_VARIABLE_MISSING', var_name]);
  });

  it('bots cannot register phones', async () => {
    const { body } = await organisation.ask('bot', 'POST', android, { token });
    expect(body.msg).toBe('This endpoint does not accept bot requests.');
  });

  it('the token is neither logged nor stored, regardless of the part of the request that contains it', async () => {
    const { server } = organisation;
    for (const path of [android, apple]) {
      await ask('POST', path, { token, appid: 'org.example.chat' });
      await ask('DELETE', path, { token });
      const url = `/api/v1/${path}?token=${token}&appid=org.example.chat`;
      const { authorization } = organisation.accounts.member;
      for (const method of ['POST', 'DELETE'] as const)
        await server.send({ method, url, headers: { authorization } });
    }
    await server.settle();
    expect(server.logged.text()).toContain(`POST /api/v1/${android}`);
    expect(server.logged.text()).not.toContain(token);
    const { db } = server.server.database;
    for (const table of await db.introspection.getTables()) {
      const rows = await db
        .selectFrom(table.name as 'users')
        .selectAll()
        .execute();
      expect(JSON.stringify(rows)).not.toContain(token);
    }
  });
});
