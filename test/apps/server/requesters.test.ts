import { roles } from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import type { RequestHead } from '@waxwing/service/http';
import { expect, it } from 'vitest';
import { deactivateByAddress } from '#server/membership/user-administration/change-activity.js';
import {
  administrator,
  human,
  member,
  nonGuest,
  type Requester,
  user,
} from '#server/platform/authentication/authenticate.js';
import { eachBackend } from '../../support/test-databases.js';
import { sharedOrganisation } from './organisation-under-test.js';
import type { Account } from './server-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  const users = () => organisation.server.server.database.db;
  const add = (email: string) => organisation.server.addAccount(email, { role: roles.administrator });

  function authenticate(kind: typeof user, { email, apiKey }: Account): Promise<Requester | undefined> {
    const head = {
      basicCredentials: () => ({ username: email, password: new Secret(apiKey) }),
      setActor: () => undefined,
    } as unknown as RequestHead;
    const { database } = organisation.server.server;
    return Promise.resolve(kind.authenticate?.({ database }, head));
  }

  it.each([
    {
      kind: administrator,
      refused: ['moderator', 'member', 'second', 'guest', 'bot'],
      code: 'UNAUTHORIZED_PRINCIPAL',
    },
    { kind: member, refused: ['guest', 'bot'], code: 'BAD_REQUEST' },
    { kind: human, refused: ['bot'], code: 'BAD_REQUEST' },
    { kind: nonGuest, refused: ['guest'], code: 'BAD_REQUEST' },
    { kind: user, refused: [], code: undefined },
  ] as const)('$kind.name accepts all users except $refused', async ({ kind, refused, code }) => {
    for (const [name, account] of Object.entries(organisation.accounts)) {
      const isRefused = (refused as readonly string[]).includes(name);
      const asked = authenticate(kind, account);
      if (isRefused) await expect(asked, name).rejects.toMatchObject({ code });
      else expect(await asked, name).toMatchObject({ id: account.userId });
    }
  });

  it('a change runs with the user’s current role, after the first lock', async () => {
    const account = await add('promoted@example.com');
    const requester = await authenticate(administrator, account);
    await users().updateTable('users').set({ role: roles.owner }).where('id', '=', account.userId).execute();
    const order: string[] = [];
    const role = await requester?.change(
      async (_transaction, held) => {
        order.push('work');
        return held.role;
      },
      async () => void order.push('first'),
    );
    expect(role).toBe(roles.owner);
    expect(order).toEqual(['first', 'work']);
  });

  it.each([
    { how: 'change', what: 'demoted', code: 'UNAUTHORIZED_PRINCIPAL', set: { role: roles.member } },
    { how: 'change', what: 'given another key', code: 'INVALID_API_KEY', set: { api_key_hash: 'another' } },
    { how: 'changeMany', what: 'demoted', code: 'UNAUTHORIZED_PRINCIPAL', set: { role: roles.member } },
    {
      how: 'changeMany',
      what: 'given another key',
      code: 'INVALID_API_KEY',
      set: { api_key_hash: 'another' },
    },
  ] as const)(
    '$how is refused if the user was $what after authentication',
    async ({ how, what, code, set }) => {
      const account = await add(`${how}-${what.replaceAll(' ', '-')}@example.com`);
      const requester = await authenticate(administrator, account);
      await users().updateTable('users').set(set).where('id', '=', account.userId).execute();
      let isDone = false;
      const work = async () => {
        isDone = true;
      };
      const change = how === 'change' ? requester?.change(work) : requester?.changeMany(1000, work);
      await expect(change).rejects.toMatchObject({ code });
      expect(isDone).toBe(false);
    },
  );

  it.each([1, 1000])(
    'a change of %i rows runs with the user’s current role, and returns its result',
    async (rows) => {
      const account = await add(`rows${rows}@example.com`);
      const requester = await authenticate(administrator, account);
      await users()
        .updateTable('users')
        .set({ role: roles.owner })
        .where('id', '=', account.userId)
        .execute();
      const order: string[] = [];
      const role = await requester?.changeMany(
        rows,
        async (_transaction, held) => {
          order.push('work');
          return held.role;
        },
        async () => void order.push('first'),
      );
      expect(role).toBe(roles.owner);
      expect(order).toEqual(['first', 'work']);
    },
  );

  it('a change is refused if the user was deactivated after authentication', async () => {
    const account = await add('removed@example.com');
    const requester = await authenticate(administrator, account);
    await deactivateByAddress(
      organisation.server.server.database,
      () => organisation.server.now,
      account.email,
    );
    const change = requester?.change(async () => 'done');
    await expect(change).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
  });
});
