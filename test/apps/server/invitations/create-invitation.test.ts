import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const path = 'invites/multiuse';
const refusal = (code: string, msg: string | RegExp) => ({
  status: 400,
  body: { code, msg: typeof msg === 'string' ? msg : expect.stringMatching(msg) },
});

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  async function invites(who: 'owner' | 'moderator' = 'owner') {
    return (await organisation.do(who, 'GET', 'invites')).invites as Record<string, unknown>[];
  }

  async function letEverybodyInvite(): Promise<void> {
    const group = await organisation.roleGroup('members');
    await organisation.do('owner', 'PATCH', 'realm', { create_multiuse_invite_group: { new: group } });
  }

  describe('making an invitation', () => {
    it('returns a link that is valid for ten days and is not stored itself, and notifies administrators', async () => {
      const events = await organisation.watch('administrator', { event_types: '["invites_changed"]' });
      const others = await organisation.watch('member', { event_types: '["invites_changed"]' });
      const { invite_link: link } = await organisation.do('owner', 'POST', path);
      expect(link).toMatch(/^https:\/\/chat\.example\.com\/join\/[a-z2-7]{24}\/$/);
      const now = Math.floor(organisation.server.now / 1000);
      expect((await invites()).at(-1)).toEqual({
        id: expect.any(Number),
        invited: now,
        expiry_date: now + 14_400 * 60,
        invited_by_user_id: organisation.id('owner'),
        invited_as: 400,
        is_multiuse: true,
        link_url: null,
      });
      expect(await events()).toEqual([{ type: 'invites_changed' }]);
      expect(await others()).toEqual([]);
      const [, token = ''] = /join\/(\w+)\//.exec(String(link)) ?? [];
      const rows = await organisation.server.server.database.db
        .selectFrom('invitations')
        .selectAll()
        .execute();
      expect(JSON.stringify(rows)).not.toContain(token);
    });

    it('accepts an expiry in minutes, or null for no expiry', async () => {
      await organisation.do('owner', 'POST', path, { invite_expires_in_minutes: 5 });
      expect((await invites()).at(-1)?.expiry_date).toBe(Math.floor(organisation.server.now / 1000) + 300);
      await organisation.do('owner', 'POST', path, { invite_expires_in_minutes: null });
      expect((await invites()).at(-1)?.expiry_date).toBeNull();
    });

    it('ignores the legacy expiry in days, and reports it as ignored', async () => {
      const answer = await organisation.do('owner', 'POST', path, { invite_expires_in_days: 3 });
      expect(answer.ignored_parameters_unsupported).toEqual(['invite_expires_in_days']);
    });

    it.each([
      ['invite_expires_in_minutes', 0],
      ['invite_expires_in_minutes', 1.5],
      ['invite_expires_in_minutes', 1e12],
      ['invite_as', 500],
      ['stream_ids', 'x'],
      ['stream_ids', [0]],
      ['group_ids', ['1']],
      ['include_realm_default_subscriptions', 'yes'],
      ['welcome_message_custom_text', 'x'.repeat(8001)],
    ])('refuses %s as %j, and creates no invitation', async (name, value) => {
      const before = await invites();
      const answer = await organisation.ask('owner', 'POST', path, { [name]: value });
      expect(answer).toMatchObject(refusal('BAD_REQUEST', new RegExp(name)));
      expect(await invites()).toEqual(before);
    });

    it.each([
      ['guest', /guest/],
      ['bot', /bot/],
      ['member', 'Insufficient permission'],
    ] as const)('is refused for a %s', async (who, msg) => {
      expect(await organisation.ask(who, 'POST', path)).toMatchObject(refusal('BAD_REQUEST', msg));
    });

    it('grants no role above its creator’s role', async () => {
      await letEverybodyInvite();
      const roleCodes = [100, 200, 300, 400, 600];
      for (const [who, own] of [
        ['owner', 100],
        ['administrator', 200],
        ['moderator', 300],
        ['member', 400],
      ] as const) {
        for (const role of roleCodes) {
          const { status, body } = await organisation.ask(who, 'POST', path, { invite_as: role });
          expect([who, role, status]).toEqual([who, role, role < own ? 400 : 200]);
          if (role < own) expect(body.code).toBe('UNAUTHORIZED_PRINCIPAL');
        }
      }
    });

    it('refuses channels that are unknown, archived or not readable', async () => {
      const { id: archived } = await addChannel(organisation, { isArchived: true });
      const { id: secret } = await addChannel(organisation, { isPrivate: true });
      for (const id of [999_999, archived, secret]) {
        const answer = await organisation.ask('administrator', 'POST', path, { stream_ids: [id] });
        expect(answer).toMatchObject(
          refusal('BAD_REQUEST', `Invalid channel ID ${id}. No invites were sent.`),
        );
      }
    });

    it('refuses channels that the user may not add subscribers to', async () => {
      await letEverybodyInvite();
      const group = await organisation.roleGroup('moderators');
      await organisation.do('owner', 'PATCH', 'realm', { can_add_subscribers_group: { new: group } });
      const { id } = await addChannel(organisation);
      const wish = { stream_ids: [id] };
      expect(await organisation.ask('member', 'POST', path, wish)).toMatchObject(
        refusal('BAD_REQUEST', 'You do not have permission to subscribe other users to channels.'),
      );
      await organisation.do('member', 'POST', path, { include_realm_default_subscriptions: true });
      await organisation.do('moderator', 'POST', path, wish);
    });

    it('refuses groups that are unknown, role groups, deactivated, or closed to the requester', async () => {
      await letEverybodyInvite();
      const make = async (who: 'owner' | 'member') =>
        (
          await organisation.do(who, 'POST', 'user_groups/create', {
            name: organisation.newName(),
            description: '',
            members: [],
          })
        ).group_id as number;
      const own = await make('member');
      const others = await make('owner');
      const gone = await make('owner');
      await organisation.do('owner', 'POST', `user_groups/${gone}/deactivate`);
      const byRole = await organisation.roleGroup('members');
      const ask = (id: number) => organisation.ask('member', 'POST', path, { group_ids: [id] });
      expect(await ask(999_999)).toMatchObject(refusal('BAD_REQUEST', /Invalid user group/));
      expect(await ask(byRole)).toMatchObject(refusal('BAD_REQUEST', /Invalid user group/));
      expect(await ask(gone)).toMatchObject(refusal('BAD_REQUEST', /deactivated/));
      expect(await ask(others)).toMatchObject(refusal('BAD_REQUEST', 'Insufficient permission'));
      expect(await ask(own)).toMatchObject({ status: 200 });
      await organisation.do('owner', 'POST', path, { group_ids: [others] });
    });

    it('accepts null for no channels and no groups', async () => {
      await organisation.do('owner', 'POST', path, { stream_ids: null, group_ids: null });
    });

    it('accepts a welcome text of at most 8000 code points', async () => {
      const welcome = (characters: number) => ({
        welcome_message_custom_text: '\u{1F426}'.repeat(characters),
      });
      await organisation.do('owner', 'POST', path, welcome(8000));
      expect(await organisation.ask('owner', 'POST', path, welcome(8001))).toMatchObject(
        refusal('BAD_REQUEST', 'Invalid welcome_message_custom_text: must have at most 8000 characters'),
      );
      await organisation.do('owner', 'PATCH', 'realm', welcome(8000));
      await organisation.do('owner', 'PATCH', 'realm', { welcome_message_custom_text: '' });
    });

    it('accepts a welcome message from administrators only', async () => {
      await letEverybodyInvite();
      await organisation.do('administrator', 'POST', path, { welcome_message_custom_text: 'x'.repeat(8000) });
      await organisation.do('moderator', 'POST', path, { welcome_message_custom_text: null });
      expect(
        await organisation.ask('moderator', 'POST', path, { welcome_message_custom_text: 'Hi' }),
      ).toMatchObject(refusal('UNAUTHORIZED_PRINCIPAL', 'Must be an organization administrator'));
    });
  });

  describe('invitations', () => {
    it('are listed for administrators and for their own inviters, until they expire', async () => {
      await letEverybodyInvite();
      await organisation.do('moderator', 'POST', path, { invite_expires_in_minutes: 1 });
      const ids = (await invites('moderator')).map(({ invited_by_user_id }) => invited_by_user_id);
      expect(new Set(ids)).toEqual(new Set([organisation.id('moderator')]));
      const before = (await invites()).length;
      organisation.server.now += 60_000;
      expect((await invites()).length).toBeLessThan(before);
      for (const who of ['guest', 'bot'] as const) {
        expect(await organisation.ask(who, 'GET', 'invites')).toMatchObject({ status: 400 });
      }
    });

    it('can be revoked by their inviter and by administrators, and look unknown to other users', async () => {
      await letEverybodyInvite();
      const make = async () => {
        await organisation.do('moderator', 'POST', path);
        return (await invites('moderator')).at(-1)?.id;
      };
      const one = await make();
      const two = await make();
      for (const [who, id] of [
        ['member', one],
        ['owner', 999_999],
      ] as const) {
        const answer = await organisation.ask(who, 'DELETE', `${path}/${id}`);
        expect(answer).toMatchObject(refusal('BAD_REQUEST', 'No such invitation'));
      }
      await organisation.do('moderator', 'DELETE', `${path}/${one}`);
      await organisation.do('administrator', 'DELETE', `${path}/${two}`);
      expect((await invites()).map(({ id }) => id)).not.toContain(one);
      expect((await invites()).map(({ id }) => id)).not.toContain(two);
    });
  });
});
