import { afterEach, describe, expect, it } from 'vitest';
import { observeQueries } from '../../../../support/observe-queries.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post, stored } from './moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];
  const ok = 'done';

  const edit = async (who: Who, id: number, fields: Record<string, unknown>) => {
    const { status, body } = await organisation.ask(who, 'PATCH', `messages/${id}`, {
      send_notification_to_new_thread: false,
      ...fields,
    });
    return status === 200 ? ok : `${body.code}: ${body.msg}`;
  };
  const realm = (fields: Record<string, unknown>) => organisation.do('owner', 'PATCH', 'realm', fields);
  const just = (...whom: Who[]) => ({
    new: { direct_members: whom.map((who) => organisation.id(who)), direct_subgroups: [] },
  });
  const realmGroup = async (name: string, group: string) =>
    realm({ [name]: { new: await organisation.roleGroup(group) } });
  const groups = {
    can_resolve_topics_group: 'everyone',
    can_move_messages_between_topics_group: 'everyone',
    can_move_messages_between_channels_group: 'members',
  };
  afterEach(async () => {
    for (const [name, group] of Object.entries(groups)) await realmGroup(name, group);
    await realm({
      allow_message_editing: true,
      message_content_edit_limit_seconds: 600,
      move_messages_within_stream_limit_seconds: 604_800,
      move_messages_between_streams_limit_seconds: 604_800,
    });
  });

  const mayNotEdit = "BAD_REQUEST: You don't have permission to edit this message";
  const mayNotMove = "BAD_REQUEST: You don't have permission to move this message";
  const mayNotResolve = "BAD_REQUEST: You don't have permission to resolve topics in this channel.";
  const resolving = { topic: '✔ lunch', propagate_mode: 'change_all' };

  /** The outcome of an edit that links a channel, and whether the server looked that channel up. */
  async function editLookingFor(who: Who, id: number, fields: Record<string, unknown> = {}) {
    const name = organisation.newName();
    const parameters: unknown[] = [];
    const stop = observeQueries(organisation.server.server.database.db, (query) => {
      parameters.push(query.parameters);
    });
    const said = await edit(who, id, { content: `#**${name}**`, ...fields });
    stop();
    const asked = JSON.stringify(parameters);
    return [said, asked.includes(`"${name}"`) || asked.includes(`\\"${name}\\"`)];
  }

  describe('the content', () => {
    it('can be changed only by its sender, regardless of the roles of other users', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId });
      for (const who of ['owner', 'administrator', 'moderator', 'second', 'bot'] as const) {
        expect([who, await edit(who, id, { content: 'x' })]).toEqual([who, mayNotEdit]);
        expect(await edit(who, id, { content: 'x', topic: 'dinner' })).toBe(mayNotEdit);
      }
      expect(await stored(organisation, id)).toMatchObject({ content: 'hello', topic: 'lunch' });
      expect(await edit('member', id, { content: 'x' })).toBe(ok);
    });

    it('is parsed only for the user’s own, readable message', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const { id: hiddenId } = await addChannel(organisation, { isPrivate: true });
      const [id = 0, hidden = 0] = await post(organisation, { channelId }, { channelId: hiddenId });
      const invalid = 'BAD_REQUEST: Invalid message(s)';
      expect(await editLookingFor('owner', id)).toEqual([mayNotEdit, false]);
      expect(await editLookingFor('member', hidden)).toEqual([invalid, false]);
      expect(await editLookingFor('member', 999_999_999)).toEqual([invalid, false]);
      expect(await editLookingFor('member', id)).toEqual([ok, true]);
    });

    it('is parsed only after all other checks', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const { id: archived } = await addChannel(organisation, { members: ['member'], isArchived: true });
      const [id = 0, gone = 0] = await post(
        organisation,
        { channelId, ageSeconds: 100 },
        { channelId: archived },
      );
      const refused = async (at: number, fields?: Record<string, unknown>) => {
        const [said, isLookedAt] = await editLookingFor('member', at, fields);
        expect(isLookedAt, String(said)).toBe(false);
        return said;
      };
      expect(await refused(gone)).toBe('BAD_REQUEST: Invalid message(s)');
      expect(await refused(id, { stream_id: 1 })).toContain('while changing channel');
      expect(await refused(id, { prev_content_sha256: 'a' })).toContain('EXPECTATION_MISMATCH');
      await realm({ message_content_edit_limit_seconds: 79 });
      expect(await refused(id)).toContain('The time limit for editing this message has passed');
      await realm({ allow_message_editing: false });
      expect(await refused(id)).toContain('turned off message editing');
    });

    it('cannot be changed if allow_message_editing is off, but topics can', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'owner'] });
      const [id = 0, owners = 0] = await post(organisation, { channelId }, { channelId, by: 'owner' });
      await realm({ allow_message_editing: false });
      const off = 'BAD_REQUEST: Your organization has turned off message editing';
      expect(await edit('member', id, { content: 'x' })).toBe(off);
      expect(await edit('owner', owners, { content: 'x' })).toBe(off);
      expect(await edit('member', id, { topic: 'dinner' })).toBe(ok);
    });

    it('can be changed, even by administrators, only until message_content_edit_limit_seconds have passed', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'owner'] });
      const [id = 0, owners = 0] = await post(
        organisation,
        { channelId, ageSeconds: 100 },
        { channelId, ageSeconds: 100, by: 'owner' },
      );
      const late = 'BAD_REQUEST: The time limit for editing this message has passed';
      await realm({ message_content_edit_limit_seconds: 79 });
      expect(await edit('member', id, { content: 'x' })).toBe(late);
      expect(await edit('owner', owners, { content: 'x' })).toBe(late);
      await realm({ message_content_edit_limit_seconds: 80 });
      expect(await edit('member', id, { content: 'x' })).toBe(ok);
      await realm({ message_content_edit_limit_seconds: 'unlimited' });
      organisation.server.now += 86_400_000;
      expect(await edit('member', id, { content: 'y' })).toBe(ok);
    });
  });

  describe('the topic', () => {
    it('can be changed by can_move_messages_between_topics_group and administrators, even for others’ messages', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId });
      expect(await edit('second', id, { topic: 'a' })).toBe(ok);
      await realmGroup('can_move_messages_between_topics_group', 'nobody');
      for (const who of ['member', 'second', 'moderator'] as const)
        expect([who, await edit(who, id, { topic: 'b' })]).toEqual([who, mayNotEdit]);
      expect(await edit('administrator', id, { topic: 'b' })).toBe(ok);
    });

    it('can be changed by the channel’s can_move_messages_within_channel_group and its administrators', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId });
      await realmGroup('can_move_messages_between_topics_group', 'nobody');
      await organisation.do('owner', 'PATCH', `streams/${channelId}`, {
        can_move_messages_within_channel_group: just('second'),
        can_administer_channel_group: just('moderator'),
      });
      expect(await edit('member', id, { topic: 'a' })).toBe(mayNotEdit);
      expect(await edit('second', id, { topic: 'a' })).toBe(ok);
      expect(await edit('moderator', id, { topic: 'b' })).toBe(ok);
    });

    it('can be changed until move_messages_within_stream_limit_seconds have passed, and by moderators and above at any time', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId, ageSeconds: 100 });
      await realm({ move_messages_within_stream_limit_seconds: 79 });
      const late = "BAD_REQUEST: The time limit for editing this message's topic has passed.";
      expect(await edit('member', id, { topic: 'a' })).toBe(late);
      for (const who of ['moderator', 'administrator', 'owner'] as const)
        expect([who, await edit(who, id, { topic: who })]).toEqual([who, ok]);
      await realm({ move_messages_within_stream_limit_seconds: 80 });
      expect(await edit('member', id, { topic: 'a' })).toBe(ok);
    });

    it('is subject to the same restrictions for messages with the empty topic', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId, topic: '', ageSeconds: 100 });
      await realmGroup('can_move_messages_between_topics_group', 'nobody');
      expect(await edit('member', id, { topic: 'a' })).toBe(mayNotEdit);
      await realmGroup('can_move_messages_between_topics_group', 'everyone');
      await realm({ move_messages_within_stream_limit_seconds: 79 });
      expect(await edit('member', id, { topic: 'a' })).toMatch(/^BAD_REQUEST: The time limit/);
      await realm({ move_messages_within_stream_limit_seconds: 80 });
      expect(await edit('member', id, { topic: 'a' })).toBe(ok);
    });
  });

  describe('a topic', () => {
    it('can be resolved by can_resolve_topics_group of the organization or the channel, at any age', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId, ageSeconds: 30 * 86_400 });
      expect(await edit('member', id, resolving)).toBe(ok);
      expect(await edit('second', id, { ...resolving, topic: 'lunch' })).toBe(ok);
      await realmGroup('can_resolve_topics_group', 'nobody');
      for (const who of ['member', 'second', 'owner'] as const)
        expect([who, await edit(who, id, resolving)]).toEqual([who, mayNotResolve]);
      await organisation.do('owner', 'PATCH', `streams/${channelId}`, {
        can_resolve_topics_group: just('second'),
      });
      expect(await edit('member', id, resolving)).toBe(mayNotResolve);
      expect(await edit('second', id, resolving)).toBe(ok);
    });
  });

  describe('the channel', () => {
    const twoChannels = async () => {
      const members = ['member', 'second'] as const;
      const from = await addChannel(organisation, { members });
      const to = await addChannel(organisation, { members });
      const [id = 0, other = 0] = await post(
        organisation,
        { channelId: from.id, ageSeconds: 100 },
        { channelId: from.id, ageSeconds: 100 },
      );
      return { from, to, id, other };
    };

    it('can be changed by can_move_messages_between_channels_group and by administrators', async () => {
      const { to, from, id, other } = await twoChannels();
      await realmGroup('can_move_messages_between_channels_group', 'nobody');
      for (const who of ['member', 'second', 'moderator'] as const)
        expect([who, await edit(who, id, { stream_id: to.id })]).toEqual([who, mayNotMove]);
      expect(await edit('administrator', other, { stream_id: to.id })).toBe(ok);
      expect((await stored(organisation, id))?.channel_id).toBe(from.id);
      await realmGroup('can_move_messages_between_channels_group', 'members');
      expect(await edit('second', id, { stream_id: to.id })).toBe(ok);
      expect((await stored(organisation, id))?.channel_id).toBe(to.id);
    });

    it('can be changed by the old channel’s can_move_messages_out_of_channel_group and its administrators', async () => {
      const { to, from, id, other } = await twoChannels();
      await realmGroup('can_move_messages_between_channels_group', 'nobody');
      const fields = { can_move_messages_out_of_channel_group: just('second') };
      await organisation.do('owner', 'PATCH', `streams/${to.id}`, fields);
      expect(await edit('second', id, { stream_id: to.id })).toBe(mayNotMove);
      const administer = { can_administer_channel_group: just('moderator') };
      await organisation.do('owner', 'PATCH', `streams/${from.id}`, { ...fields, ...administer });
      expect(await edit('member', id, { stream_id: to.id })).toBe(mayNotMove);
      expect(await edit('second', id, { stream_id: to.id })).toBe(ok);
      expect(await edit('moderator', other, { stream_id: to.id })).toBe(ok);
    });

    it('can be changed until move_messages_between_streams_limit_seconds have passed, and by moderators and above at any time', async () => {
      const { to, id, other } = await twoChannels();
      await realm({ move_messages_between_streams_limit_seconds: 79 });
      expect(await edit('member', id, { stream_id: to.id })).toBe(
        "BAD_REQUEST: The time limit for editing this message's channel has passed",
      );
      expect(await edit('moderator', other, { stream_id: to.id })).toBe(ok);
      await realm({ move_messages_between_streams_limit_seconds: 80 });
      expect(await edit('member', id, { stream_id: to.id })).toBe(ok);
    });

    it('can be changed only to a channel where the mover can post', async () => {
      const { to, id } = await twoChannels();
      const nobody = { new: await organisation.roleGroup('nobody') };
      await organisation.do('owner', 'PATCH', `streams/${to.id}`, { can_send_message_group: nobody });
      for (const who of ['member', 'owner'] as const)
        expect(await edit(who, id, { stream_id: to.id })).toMatch(/^BAD_REQUEST: Not authorized to send/);
    });
  });

  it('a channel permission does not help a user who cannot read the channel: its messages look unknown to the user', async () => {
    const from = await addChannel(organisation, { isPrivate: true, members: ['member'] });
    const to = await addChannel(organisation, { members: ['member', 'second'] });
    const [id = 0] = await post(organisation, { channelId: from.id });
    await organisation.do('owner', 'PATCH', `streams/${from.id}`, {
      can_administer_channel_group: just('second'),
      can_delete_any_message_group: just('second'),
      can_move_messages_out_of_channel_group: just('second'),
      can_move_messages_within_channel_group: just('second'),
      can_resolve_topics_group: just('second'),
    });
    for (const who of ['second', 'owner'] as const) {
      for (const fields of [{ content: 'x' }, { topic: 'a' }, { stream_id: to.id }, resolving]) {
        for (const asked of [id, 999_999])
          expect(await edit(who, asked, fields)).toBe('BAD_REQUEST: Invalid message(s)');
      }
      const { body } = await organisation.ask(who, 'DELETE', `messages/${id}`);
      expect([body.code, body.msg]).toEqual(['BAD_REQUEST', 'Invalid message(s)']);
    }
    const [own = 0] = await post(organisation, { channelId: to.id, by: 'second' });
    for (const hidden of [from.id, 999_999])
      expect(await edit('second', own, { stream_id: hidden })).toBe('BAD_REQUEST: Invalid channel ID');
  });
});
