import { roles } from '@waxwing/server';
import { beforeEach, describe, expect, it } from 'vitest';
import { groupId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ChannelUnderTest } from '../channel-administration/channel-under-test.js';
import { addChannel, subscribe } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import type { Account } from '../server-under-test.js';
import { InvitationUnderTest } from './invitation-under-test.js';

let inviters = 0;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  /** An administrator; each test has its own. */
  let inviter: Account;
  beforeEach(async () => {
    inviters += 1;
    inviter = await newInviter(roles.administrator);
    await letInvite('administrators');
    await organisation.do('owner', 'PATCH', 'realm', {
      can_add_subscribers_group: { new: await organisation.roleGroup('members') },
    });
  });

  const newInviter = (role: (typeof roles)[keyof typeof roles]) => {
    inviters += 1;
    return organisation.server.addAccount(`inviter${inviters}@example.com`, { role });
  };
  const letInvite = async (group: string) =>
    organisation.do('owner', 'PATCH', 'realm', {
      create_multiuse_invite_group: { new: await organisation.roleGroup(group) },
    });
  const make = (wish: Record<string, unknown> = {}) => InvitationUnderTest.make(organisation, inviter, wish);
  const demote = (role: number) => organisation.do('owner', 'PATCH', `users/${inviter.userId}`, { role });
  const database = () => organisation.server.server.database;
  const openInvitations = async () => {
    const { invites } = await organisation.do('owner', 'GET', 'invites');
    const all = invites as { invited_by_user_id: number; invited_as: number }[];
    return all.filter(({ invited_by_user_id: id }) => id === inviter.userId).map((each) => each.invited_as);
  };

  describe('the role that a link grants', () => {
    it('is no longer granted once the inviter cannot invite users', async () => {
      const link = await make({ invite_as: roles.administrator });
      expect((await link.join()).role).toBe(roles.administrator);
      await demote(roles.member);
      await link.admitsNoOne();
    });

    it('is never above the inviter’s role: a demotion revokes only links to higher roles, and publishes an event', async () => {
      await letInvite('members');
      const links = await Promise.all(
        [200, 300, 400, 600].map(async (role) => ({ role, link: await make({ invite_as: role }) })),
      );
      const events = await organisation.watch('administrator', { event_types: '["invites_changed"]' });
      await demote(roles.moderator);
      expect(await events()).toEqual([{ type: 'invites_changed' }]);
      expect((await openInvitations()).sort()).toEqual([300, 400, 600]);
      for (const { role, link } of links) {
        if (role < roles.moderator) await link.admitsNoOne();
        else expect(await link.join()).toMatchObject({ status: 303, role });
      }
      await demote(roles.administrator);
      await links[0]?.link.admitsNoOne();
    });

    it('is lowered to the inviter’s role if the link still exists, such as after a database restore', async () => {
      await letInvite('members');
      const link = await make({ invite_as: roles.administrator });
      const set = { role: roles.moderator };
      await database().db.updateTable('users').set(set).where('id', '=', inviter.userId).execute();
      expect(await link.join()).toMatchObject({ status: 303, role: roles.moderator });
    });

    it('is no longer granted once the inviter is a guest, regardless of the inviter’s groups', async () => {
      await organisation.do('owner', 'PATCH', 'realm', {
        create_multiuse_invite_group: { new: { direct_members: [inviter.userId], direct_subgroups: [] } },
      });
      const link = await make({ invite_as: roles.guest });
      const events = await organisation.watch('owner', { event_types: '["invites_changed"]' });
      await demote(roles.guest);
      await link.admitsNoOne();
      expect(await events()).toEqual([{ type: 'invites_changed' }]);
      expect(await openInvitations()).toEqual([]);
    });

    it('stays the same after a promotion, without an event', async () => {
      const link = await make({ invite_as: roles.administrator });
      const events = await organisation.watch('administrator', { event_types: '["invites_changed"]' });
      await demote(roles.owner);
      expect(await events()).toEqual([]);
      expect((await link.join()).role).toBe(roles.administrator);
    });
  });

  describe('a link whose inviter loses the permission to create links', () => {
    it('stops working but can be revoked, and works again when the permission returns', async () => {
      const link = await make();
      await letInvite('owners');
      await link.admitsNoOne();
      expect(await openInvitations()).toEqual([roles.member]);
      await letInvite('administrators');
      expect(await link.join()).toMatchObject({ status: 303, role: roles.member });
    });
  });

  describe('the channels of a link', () => {
    it('exclude private channels that the inviter has left', async () => {
      const { id } = await addChannel(organisation, { isPrivate: true });
      const other = await addChannel(organisation);
      await subscribe(organisation, id, inviter.userId);
      const link = await make({ stream_ids: [id, other.id] });
      expect((await link.join()).channelIds).toEqual([id, other.id]);
      await subscribe(organisation, id, inviter.userId, false);
      expect(await link.join()).toMatchObject({ status: 303, channelIds: [other.id] });
    });

    it('exclude channels that became private', async () => {
      const channel = new ChannelUnderTest(organisation);
      await channel.make('member');
      const link = await make({ stream_ids: [channel.id] });
      await channel.updated('member', { is_private: true });
      expect(await link.join()).toMatchObject({ status: 303, channelIds: [] });
    });

    it('include only default channels and channels that the inviter can add users to', async () => {
      await letInvite('members');
      const open = await addChannel(organisation);
      const chosen = await addChannel(organisation);
      await organisation.do('owner', 'POST', 'default_streams', { stream_id: chosen.id });
      const ids = [open.id, chosen.id];
      const link = await make({ stream_ids: ids });
      await demote(roles.member);
      expect((await link.join()).channelIds).toEqual(ids);
      await organisation.do('owner', 'PATCH', 'realm', {
        can_add_subscribers_group: { new: await organisation.roleGroup('moderators') },
      });
      expect(await link.join()).toMatchObject({ status: 303, channelIds: [chosen.id] });
      await organisation.do('owner', 'DELETE', 'default_streams', { stream_id: chosen.id });
      expect(await link.join()).toMatchObject({ status: 303, channelIds: [] });
    });
  });

  describe('the groups of a link', () => {
    const newGroup = async () => {
      const answer = await organisation.server.ask(inviter, 'POST', 'user_groups/create', {
        name: organisation.newName(),
        description: '',
        members: '[]',
      });
      return groupId(Number(answer.body.group_id));
    };

    it('include only groups that the inviter can still add members to', async () => {
      const [kept, lost] = [await newGroup(), await newGroup()];
      const link = await make({ group_ids: [kept, lost] });
      expect((await link.join()).groupIds).toEqual([kept, lost]);
      const nobody = { new: await organisation.roleGroup('nobody') };
      const wish = { can_manage_group: nobody, can_add_members_group: nobody };
      await organisation.do('owner', 'PATCH', `user_groups/${lost}`, wish);
      expect(await link.join()).toMatchObject({ status: 303, groupIds: [kept] });
    });

    it('exclude deactivated groups, without an event about them', async () => {
      const [kept, gone] = [await newGroup(), await newGroup()];
      const link = await make({ group_ids: [kept, gone] });
      await organisation.do('owner', 'POST', `user_groups/${gone}/deactivate`);
      const events = await organisation.watch('member', {
        event_types: '["user_group"]',
        client_capabilities: '{"include_deactivated_groups":true}',
      });
      const joined = await link.join();
      expect(joined).toMatchObject({ status: 303, groupIds: [kept] });
      const told = (await events()) as { group_id: number }[];
      expect(told.map((each) => each.group_id)).toContain(kept);
      expect(told.map((each) => each.group_id)).not.toContain(gone);
    });
  });

  it('the welcome message of an inviter who is no longer an administrator is not sent', async () => {
    await letInvite('members');
    await organisation.do('owner', 'PATCH', 'realm', { welcome_message_custom_text: 'From all of us' });
    const link = await make({ welcome_message_custom_text: 'Send your password to Eve' });
    await demote(roles.member);
    const { userId } = await link.join();
    const rows = await database()
      .db.selectFrom('user_messages')
      .innerJoin('messages', 'messages.id', 'user_messages.message_id')
      .where('user_messages.user_id', '=', userId as never)
      .orderBy('messages.id')
      .select('messages.content')
      .execute();
    const contents = rows.map(({ content }) => content).join('\n');
    expect(contents).toContain('From all of us');
    expect(contents).not.toContain('Eve');
  });
});
