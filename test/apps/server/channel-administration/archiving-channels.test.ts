import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channel: ChannelUnderTest;
  beforeEach(async () => {
    channel = new ChannelUnderTest(organisation);
  });

  describe('archiving', () => {
    it('keeps the channel and can be undone with is_archived, which cannot archive a channel', async () => {
      await channel.make();
      await channel.refuses('member', { is_archived: false }, 'Channel is not currently deactivated');
      await channel.refuses(
        'member',
        { is_archived: true },
        'Archive a channel with DELETE /streams/{stream_id}.',
      );
      const path = `streams/${channel.id}`;
      expect((await organisation.ask('second', 'DELETE', path)).status).toBe(400);
      expect((await organisation.ask('owner', 'DELETE', 'streams/999999')).status).toBe(400);
      await organisation.do('member', 'DELETE', path);
      const again = await organisation.ask('member', 'DELETE', path);
      expect([again.status, again.body.msg]).toEqual([400, 'Channel is already archived']);
      expect((await channel.read()).is_archived).toBe(true);
      await channel.updated('member', { is_archived: false });
      expect((await channel.read()).is_archived).toBe(false);
      await organisation.do('member', 'DELETE', path);
      expect((await organisation.ask('second', 'PATCH', path, { is_archived: true })).status).toBe(400);
      await channel.updated('member', { is_archived: true });
      expect((await channel.read()).is_archived).toBe(false);
    });

    it('cannot be undone for a private channel without subscribers', async () => {
      await channel.make('owner', { invite_only: true });
      await organisation.do('owner', 'DELETE', `streams/${channel.id}`);
      await organisation.do('owner', 'DELETE', 'users/me/subscriptions', { subscriptions: [channel.name] });
      await channel.refuses('owner', { is_archived: false }, 'Channel is private and has no subscribers');
    });
  });
});
