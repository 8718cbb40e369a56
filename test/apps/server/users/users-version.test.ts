import type { UserId } from '@waxwing/protocol';
import { roles } from '@waxwing/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend, eachPostgres } from '../../../support/test-databases.js';
import { givePicture } from '../avatars/send-picture.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addField, fieldsPath, options } from '../profile-fields/field-on-wire.js';
import { ServerUnderTest } from '../server-under-test.js';

type Who = 'owner' | 'administrator' | 'moderator' | 'guest' | 'second' | undefined;

interface View {
  readonly who: Who;
  readonly parameters: Record<string, string>;
}

interface Seen {
  readonly status: number;
  readonly etag: unknown;
  readonly text: string;
}

const readers: readonly Who[] = ['owner', 'administrator', 'moderator', 'guest', 'second', undefined];
const profiles = { include_custom_profile_fields: 'true', client_external_avatar: 'false' };
const views: readonly View[] = [
  ...readers.map((who) => ({ who, parameters: profiles })),
  { who: 'owner', parameters: {} },
];

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: true });
  /** A second process on the same database if the backend allows it. */
  let other: ServerUnderTest;
  let field = 0;
  let made = 0;

  beforeAll(async () => {
    await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true });
    field = await addField(organisation, { field_type: 3, field_data: options });
    const { server } = organisation;
    const { databaseUrl } = server;
    const start = { databaseUrl, withoutRelay: true, offersWebPublicChannels: true };
    other = backend.name === 'sqlite' ? server : await ServerUnderTest.start(start);
  });
  afterAll(async () => {
    if (other !== organisation.server) await other.close();
  });

  /** Requests the users, with the last ETag if any. */
  async function see({ who, parameters }: View, etag?: unknown): Promise<Seen> {
    const response = await organisation.server.server.app.inject({
      method: 'GET',
      url: `/api/v1/users?${new URLSearchParams(parameters)}`,
      headers: {
        ...(who === undefined ? {} : { authorization: organisation.accounts[who].authorization }),
        ...(etag === undefined ? {} : { 'if-none-match': String(etag) }),
      },
    });
    return { status: response.statusCode, etag: response.headers.etag, text: response.body };
  }

  /** The users in the register response of the other process, in the form of `GET /users`. */
  async function seeRegistered({ who, parameters }: View): Promise<unknown[]> {
    const account = who && organisation.accounts[who];
    const { body } = await other.ask(account, 'POST', 'register', {
      fetch_event_types: '["realm_user"]',
      client_external_avatar: parameters.client_external_avatar ?? 'false',
      client_capabilities: '{"user_list_incomplete":true}',
    });
    const activity = { realm_users: true, realm_non_active_users: false };
    const all = Object.entries(activity).flatMap(([name, is_active]) =>
      (body[name] as { user_id: number }[]).map((user) => ({ ...user, is_active })),
    );
    return all.sort((one, another) => one.user_id - another.user_id);
  }

  /** Expects that both operations return the same users. Only one of them caches the users. */
  async function expectRegistered(seen: readonly Seen[]): Promise<void> {
    for (const [index, view] of views.entries()) {
      if (view.parameters !== profiles) continue;
      expect(await seeRegistered(view), view.who).toEqual(JSON.parse(seen[index]?.text ?? '').members);
    }
  }

  const seeAll = async (): Promise<Seen[]> => Promise.all(views.map((view) => see(view)));

  const set = (data: unknown) => organisation.do('member', 'PATCH', 'users/me/profile_data', { data });
  const patch = (fields: Record<string, unknown>) =>
    organisation.do('owner', 'PATCH', `users/${organisation.id('second')}`, fields);
  const own = (fields: Record<string, unknown>) => organisation.do('second', 'PATCH', 'settings', fields);
  const restrict = async (group: string) =>
    organisation.do('owner', 'PATCH', 'realm', {
      can_access_all_users_group: { new: await organisation.roleGroup(group) },
    });
  const addAccount = () => {
    made += 1;
    return organisation.server.addAccount(`new${made}@example.com`);
  };

  /** Each change alters some view of the users. They run in this order. */
  const changes: Record<string, () => Promise<unknown>> = {
    'a new name': () => patch({ full_name: 'Another Name' }),
    'a new role': () => patch({ role: roles.moderator }),
    'the reader losing its role': () => patch({ role: roles.member }),
    'an address shown to moderators': () => own({ email_address_visibility: 5 }),
    'an address hidden from all': () => own({ email_address_visibility: 4 }),
    'an address shown again': () => own({ email_address_visibility: 1 }),
    'a new address': async () => {
      const { db } = organisation.server.server.database;
      const owner = organisation.id('owner');
      await db.updateTable('users').set({ can_change_user_emails: 1 }).where('id', '=', owner).execute();
      await patch({ new_email: 'moved@example.com' });
      await patch({ new_email: 'second@example.com', full_name: 'Moved Back' });
    },
    'a time zone': () => own({ timezone: 'Europe/Vienna' }),
    'a picture': () => givePicture(organisation, 'second'),
    'the picture taken away': () => organisation.do('second', 'DELETE', 'users/me/avatar'),
    'a new user': addAccount,
    'a user deactivated': async () =>
      organisation.do('owner', 'DELETE', `users/${(await addAccount()).userId}`),
    'a user activated again': async () => {
      const { userId } = await addAccount();
      await organisation.do('owner', 'DELETE', `users/${userId}`);
      await organisation.do('owner', 'POST', `users/${userId}/reactivate`);
    },
    'a first profile value': () => set([{ id: field, value: 'a' }]),
    'a changed profile value': () => set([{ id: field, value: 'b' }]),
    'an option of a field removed': () =>
      organisation.do('owner', 'PATCH', `${fieldsPath}/${field}`, { field_data: { a: options.a } }),
    'a profile value removed': async () => {
      await set([{ id: field, value: 'a' }]);
      const before = await seeAll();
      await organisation.do('member', 'DELETE', 'users/me/profile_data', { data: [field] });
      expectRenewed(before, await seeAll());
      await set([{ id: field, value: 'a' }]);
    },
    'a profile field removed': () => organisation.do('owner', 'DELETE', `${fieldsPath}/${field}`),
    'guests seeing some users only': () => restrict('members'),
    'guests seeing all users again': () => restrict('everyone'),
  };

  /** Expects that each changed view has a new ETag or none. Returns the number of changed views. */
  function expectRenewed(before: readonly Seen[], after: readonly Seen[]): number {
    const changed = views.filter((_, index) => before[index]?.text !== after[index]?.text);
    const stale = changed.filter((view) => {
      const index = views.indexOf(view);
      return after[index]?.etag !== undefined && after[index]?.etag === before[index]?.etag;
    });
    expect(stale).toEqual([]);
    return changed.length;
  }

  describe('a client that already has the users', () => {
    it('gets 304 without a body while no user changes', async () => {
      const before = await seeAll();
      await organisation.do('member', 'POST', 'users/me/subscriptions', { subscriptions: [{ name: 'x' }] });
      await organisation.do('member', 'POST', 'users/me/presence', { status: 'active' });
      const again = await Promise.all(views.map((view, index) => see(view, before[index]?.etag)));
      expect(again).toEqual(before.map(({ etag }) => ({ status: 304, etag, text: '' })));
      expect(new Set(before.map(({ etag }) => etag)).size).toBe(views.length);
    });

    it.each(Object.keys(changes))(
      'gets the users again after %s, and 304 only if it sees them unchanged',
      async (name) => {
        const before = await seeAll();
        await changes[name]?.();
        const again = await Promise.all(views.map((view, index) => see(view, before[index]?.etag)));
        const after = await seeAll();
        expect(expectRenewed(before, after)).toBeGreaterThan(0);
        await expectRegistered(after);
        // A 304 must not be sent for users that differ from the client's copy.
        const wrong = again.filter(
          ({ status }, index) => status === 304 && before[index]?.text !== after[index]?.text,
        );
        expect(wrong).toEqual([]);
      },
    );

    it('registers queues without reading all users again while no user changes', async () => {
      const rowsRead = async () => {
        let rows = 0;
        const { db } = other.server.database;
        const stop = observeQueries(db, (query) => {
          if (/from "(users|profile_values)"/.test(query.sql)) rows += query.rows.length;
        });
        for (const view of views) await seeRegistered(view).finally(stop);
        return rows;
      };
      await patch({ full_name: 'Another Name Again' });
      const first = await rowsRead();
      expect(await rowsRead()).toBeLessThan(first);
    });

    it('gets a response that is marked private, without an ETag if it depends on more than the users', async () => {
      const ask = () => organisation.ask('guest', 'GET', 'users');
      expect((await ask()).headers).toMatchObject({
        'cache-control': 'private, no-cache',
        vary: expect.stringContaining('Authorization'),
        etag: expect.stringMatching(/^W\/"[\w-]{43}"$/),
      });
      await restrict('members');
      const { headers } = await ask();
      expect([headers['cache-control'], headers.etag]).toEqual(['no-store', undefined]);
      await restrict('everyone');
    });
  });
});

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);

  it('a transaction that changes a user does not block changes of other users', async () => {
    const { db } = organisation.server.server.database;
    const rename = (on: typeof db, id: UserId) =>
      on.updateTable('users').set({ full_name: 'Renamed' }).where('id', '=', id).execute();
    await db.transaction().execute(async (open) => {
      await rename(open, organisation.id('member'));
      await rename(db, organisation.id('second'));
    });
    const { members } = await organisation.do('owner', 'GET', 'users');
    const renamed = (members as { full_name: string }[]).filter(({ full_name }) => full_name === 'Renamed');
    expect(renamed).toHaveLength(2);
  });
});
