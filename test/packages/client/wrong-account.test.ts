import { describe, expect, it } from 'vitest';
import type { FakeChatServer } from './fake-chat-server.js';
import { createPhone } from './phone.js';

describe('An account that belongs to another user on its server', () => {
  it.each([
    [
      'user',
      (server: FakeChatServer) => server.users.set(server.email, 11),
      /user 11 of https:\/\/chat.example.com, .* user 10 of/,
    ],
    [
      'address',
      (server: FakeChatServer) => {
        server.realmUrl = 'http://localhost:8310';
      },
      /user 10 of http:\/\/localhost:8310, .*organization's URL/,
    ],
  ])('is not registered, and gets a warning that the %s differs', async (_, change, warning) => {
    const { server, accounts, registrar } = await createPhone();
    change(server);
    await expect(registrar.sync()).resolves.toEqual({
      code: 'wrong-account',
      sentence: expect.stringContaining('sign in again'),
      warning: expect.stringMatching(warning),
    });
    expect(server.registrations).toEqual([]);
    expect(await accounts.list()).toEqual([]);
    expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE', path: '/api/v1/events' });
  });

  it('is registered once the app and the server agree', async () => {
    const { server, registrar } = await createPhone();
    server.realmUrl = 'http://localhost:8310';
    await registrar.sync();
    server.realmUrl = `${server.url}:443/`;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  });

  it('is detected by GET /users/me if the server does not name the queue’s owner', async () => {
    const { server, client, registrar } = await createPhone();
    Object.assign(server, { tellsUserId: false, realmUrl: undefined });
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    const { url: realmUrl, email, apiKey } = server;
    const other = client.registrar({ realmUrl, userId: 11, email, apiKey });
    await expect(other.sync()).resolves.toMatchObject({ code: 'wrong-account' });
  });
});
