import { Secret } from '@waxwing/service/config';
import { beforeEach, describe, expect, it } from 'vitest';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import type { Account } from '../server-under-test.js';

const password = 'correct horse battery';
const better = 'staple of another battery';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let ada: Account;
  let people = 0;
  beforeEach(async () => {
    people += 1;
    ada = await organisation.server.addAccount(`ada${people}@example.com`, { fullName: `Ada ${people}` });
  });

  const set = (who: Account, fields: Record<string, string>) =>
    organisation.server.ask(who, 'PATCH', 'settings', fields);
  const own = async () => (await organisation.server.ask(ada, 'GET', 'users/me')).body;

  describe('a user’s own password', () => {
    beforeEach(() =>
      setPassword(
        database(),
        () => organisation.server.now,
        ada.email,
        async () => new Secret(password),
      ),
    );
    const database = () => organisation.server.server.database;
    const signIn = async (with_: string) =>
      organisation.server.ask(undefined, 'POST', 'fetch_api_key', { username: ada.email, password: with_ });

    it('can be changed, and existing keys stay valid', async () => {
      const { body } = await signIn(password);
      const { status } = await set(ada, { old_password: password, new_password: better });
      expect(status).toBe(200);
      expect([(await signIn(password)).status, (await signIn(better)).status]).toEqual([401, 200]);
      const pair = Buffer.from(`${ada.email}:${body.api_key}`).toString('base64');
      const signedIn = { ...ada, authorization: `Basic ${pair}` };
      for (const who of [ada, signedIn]) {
        expect((await organisation.server.ask(who, 'GET', 'users/me')).status).toBe(200);
      }
      expect(organisation.server.logged.text()).not.toContain(better);
    });

    it('revokes only the user’s own invitations when it changes, and the response counts them', async () => {
      const { server } = organisation;
      const role = 200;
      const eve = await server.addAccount(`eve${people}@example.com`, { role });
      await setPassword(
        database(),
        () => server.now,
        eve.email,
        async () => new Secret(password),
      );
      const make = async (who: Account) => {
        const { body } = await server.ask(who, 'POST', 'invites/multiuse');
        return new URL(String(body.invite_link)).pathname;
      };
      const links = [await make(eve), await make(eve)];
      const other = await make(organisation.accounts.owner);
      const events = await organisation.watch('administrator', { event_types: '["invites_changed"]' });
      expect((await set(eve, { enter_sends: 'true' })).body).not.toHaveProperty('revoked_invitations');
      const { status, body } = await set(eve, { old_password: password, new_password: better });
      expect([status, body]).toEqual([200, { result: 'success', msg: '', revoked_invitations: 2 }]);
      expect(await events()).toEqual([{ type: 'invites_changed' }]);
      const pages = [...links, other].map(async (link) => (await server.server.app.inject(link)).statusCode);
      expect(await Promise.all(pages)).toEqual([404, 404, 200]);
    });

    it.each([
      ['the old password is wrong', { old_password: 'wrong horse' }, 'Wrong password!'],
      ['the old password is missing', {}, 'Wrong password!'],
      [
        'the new password is too short',
        { old_password: password, new_password: 'short' },
        '8 to 100 characters',
      ],
      [
        'another parameter is wrong',
        { old_password: password, timezone: 'Mars/Olympus' },
        'Invalid timezone',
      ],
    ])('does not change if %s', async (_, fields, words) => {
      const { status, body } = await set(ada, { new_password: better, ...fields });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringContaining(words)]);
      expect([(await signIn(better)).status, (await signIn(password)).status]).toEqual([401, 200]);
    });

    it('does not change if the new password is empty', async () => {
      expect((await set(ada, { old_password: '', new_password: '', enter_sends: 'true' })).status).toBe(200);
      expect((await signIn(password)).status).toBe(200);
    });

    it('cannot be guessed: the name is locked after five tries', async () => {
      for (let tries = 0; tries < 5; tries++) {
        expect((await set(ada, { old_password: `wrong ${tries}`, new_password: better })).status).toBe(400);
      }
      const { status, body } = await set(ada, { old_password: password, new_password: better });
      expect([status, body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
      expect((await signIn(password)).status).toBe(429);
    });

    it('is set by only one of two concurrent changes', async () => {
      const wanted = ['the first of two', 'the second of two'];
      const answers = await Promise.all(
        wanted.map((new_password) => set(ada, { old_password: password, new_password })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const signedIn = await Promise.all(wanted.map(async (each) => (await signIn(each)).status === 200));
      expect(signedIn.filter(Boolean)).toHaveLength(1);
    });
  });

  describe('a user’s own name', () => {
    const setting = (name: string, value: boolean) =>
      organisation.do('owner', 'PATCH', 'realm', { [name]: value });

    it('is published to all clients when it changes', async () => {
      const events = await organisation.watch('guest', { event_types: '["realm_user"]' });
      expect((await set(ada, { full_name: ' Ada Lovelace ' })).status).toBe(200);
      expect((await own()).full_name).toBe('Ada Lovelace');
      const person = { user_id: ada.userId, full_name: 'Ada Lovelace' };
      expect(await events()).toEqual([{ type: 'realm_user', op: 'update', person }]);
    });

    it.each([
      [' ', "can't be empty"],
      ['a*b', 'Invalid characters'],
      ['n'.repeat(101), 'too long'],
    ])('cannot be %j, and then no other setting changes either', async (full_name, words) => {
      const { status, body } = await set(ada, { full_name, timezone: 'Europe/Paris' });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringContaining(words)]);
      expect(await own()).toMatchObject({ full_name: `Ada ${people}`, timezone: '' });
    });

    it('must be unique if the organization requires unique names', async () => {
      await setting('require_unique_names', true);
      await organisation.server.addAccount(`other${people}@example.com`, { fullName: 'Taken' });
      const { status, body } = await set(ada, { full_name: 'taken' });
      await setting('require_unique_names', false);
      await organisation.server.ask(
        organisation.accounts.owner,
        'PATCH',
        `users/other${people}@example.com`,
        {
          full_name: `Other ${people}`,
        },
      );
      expect([status, body.msg]).toEqual([
        400,
        'Unique names required in this organization: choose another name.',
      ]);
    });

    it('can only be changed by administrators if the organization disables changes', async () => {
      await setting('name_changes_disabled', true);
      const { status, body } = await set(ada, { full_name: 'Another' });
      const same = await set(ada, { full_name: `Ada ${people}` });
      const administrator = await set(organisation.accounts.administrator, { full_name: 'Boss' });
      await setting('name_changes_disabled', false);
      expect([status, body.code, body.msg]).toEqual([
        ...[400, 'BAD_REQUEST', 'Full name changes are disabled in this organization.'],
      ]);
      expect([same.status, administrator.status]).toEqual([200, 200]);
    });
  });

  it('a user cannot change their own unconfirmed address without the right to change others’ addresses', async () => {
    const email = `new${people}@example.com`;
    const { status, body } = await set(ada, { email });
    expect([status, body.msg]).toEqual([400, 'User not authorized to change user emails']);
    expect((await set(ada, { email: ada.email, full_name: 'Ada' })).status).toBe(200);
    const owner = await organisation.server.addAccount(`owner${people}@example.com`, { role: 100 });
    await organisation.server.server.database.db
      .updateTable('users')
      .set({ can_change_user_emails: 1 })
      .where('id', '=', owner.userId)
      .execute();
    const watched = await organisation.watch('member', { event_types: '["realm_user"]' });
    expect((await set(owner, { email, email_address_visibility: '4' })).status).toBe(200);
    const told = JSON.stringify(await watched());
    expect(told).toContain(`"delivery_email":"${email}"`);
    expect(told).toContain(`"delivery_email":null`);
  });
});
