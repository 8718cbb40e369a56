import { describe, expect, it } from 'vitest';
import { addressVisibility } from '#server/people/users/address-visibility.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { changesOfUsers } from './changes-of-users.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { somebody, rowOf, set, changed, refused, allow } = changesOfUsers(organisation);

  describe('a new address', () => {
    it('can be set only by owners with the special permission', async () => {
      const target = await somebody();
      const fields = { new_email: `new-${target.email}` };
      expect(await refused('owner', target, fields)).toContain('not authorized');
      await set(organisation.accounts.administrator, { can_change_user_emails: 1 });
      await refused('administrator', target, fields);
      await refused('administrator', target, { new_email: target.email });
      await allow(true);
      await changed('owner', target, fields);
      expect((await rowOf(target)).email).toBe(fields.new_email);
    });

    it('is the user’s sign-in name from then on', async () => {
      const target = await somebody();
      await allow(true);
      await changed('owner', target, { new_email: `Signs.In-${target.email}` });
      const ask = (email: string) =>
        organisation.server.send({
          method: 'GET',
          url: '/api/v1/users/me',
          headers: { authorization: `Basic ${Buffer.from(`${email}:${target.apiKey}`).toString('base64')}` },
        });
      expect((await ask(target.email)).status).toBe(401);
      expect((await ask(`signs.in-${target.email}`)).body.delivery_email).toBe(`Signs.In-${target.email}`);
    });

    it.each([
      '',
      'ada',
      'ada@',
      '@example.com',
      'a b@example.com',
      'a:b@example.com',
      `${'x'.repeat(250)}@example.com`,
    ])('is refused as %j', async (new_email) => {
      await allow(true);
      expect(await refused('owner', await somebody(), { new_email })).toContain('new_email');
    });

    it('must be unique, and cannot be the placeholder of a hidden address', async () => {
      const target = await somebody();
      await allow(true);
      const dummy = `user${organisation.id('member')}@chat.example.com`;
      for (const new_email of ['Owner@Example.com', 'bot@example.com', dummy]) {
        expect(await refused('owner', target, { new_email })).toContain('taken');
      }
      await changed('owner', target, { new_email: target.email.toUpperCase() });
      expect((await rowOf(target)).email).toBe(target.email.toUpperCase());
    });

    it('is published with the avatar to all clients if everyone can see it', async () => {
      const target = await somebody();
      await allow(true);
      const events = await organisation.watch('guest');
      const new_email = `told-${target.email}`;
      await changed('owner', target, { new_email });
      const url = expect.stringMatching(
        /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}\?d=identicon(&s=500)?&version=2$/,
      );
      const told = (fields: object) => ({
        type: 'realm_user',
        op: 'update',
        person: { user_id: target.userId, ...fields },
      });
      expect(await events()).toEqual([
        told({ delivery_email: new_email }),
        told({ new_email }),
        told({ avatar_source: 'G', avatar_url: url, avatar_url_medium: url, avatar_version: 2 }),
      ]);
      expect((await rowOf(target)).avatar_version).toBe(2);
    });

    it('is published only to users who can see it', async () => {
      const target = await somebody();
      await set(target, { email_address_visibility: addressVisibility.administrators });
      await allow(true);
      const readers = (['owner', 'administrator', 'moderator', 'guest'] as const).map((who) =>
        organisation.watch(who),
      );
      const watched = await Promise.all(readers);
      const own = await organisation.server.openQueue(target);
      const new_email = `hidden-${target.email}`;
      await changed('owner', target, { new_email });
      const event = {
        type: 'realm_user',
        op: 'update',
        person: { user_id: target.userId, delivery_email: new_email },
      };
      expect(await Promise.all(watched.map((events) => events()))).toEqual([[event], [event], [], []]);
      await set(target, { email: target.email, email_lower: target.email });
      expect(await own()).toEqual([{ ...event, id: 0 }]);
    });
  });
});
