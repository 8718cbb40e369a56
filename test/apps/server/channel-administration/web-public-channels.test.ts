import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: true });
  const permission = 'can_create_web_public_channel_group';
  let channel: ChannelUnderTest;
  const realm = (fields: Record<string, unknown>) => organisation.do('owner', 'PATCH', 'realm', fields);
  const letMake = async (group: string) =>
    realm({ [permission]: { new: await organisation.roleGroup(group) } });
  beforeEach(async () => {
    await realm({ enable_spectator_access: true });
    channel = new ChannelUnderTest(organisation);
    await channel.make('administrator');
  });
  afterEach(() => letMake('owners'));

  describe('making a channel web-public', () => {
    it('requires that the organization enables web-public channels and that the user has the permission', async () => {
      const wish = { is_web_public: true };
      await realm({ enable_spectator_access: false });
      const off = await channel.update('owner', wish);
      expect([off.body.code, off.body.msg]).toEqual(['BAD_REQUEST', 'Web-public channels are not enabled.']);
      await realm({ enable_spectator_access: true });
      const refused = await channel.update('administrator', wish);
      expect([refused.body.code, refused.body.msg]).toEqual(['BAD_REQUEST', 'Insufficient permission']);
      expect(await channel.read()).toMatchObject({ is_web_public: false });
      await letMake('administrators');
      await channel.updated('administrator', wish);
      expect(await channel.read()).toMatchObject({
        is_web_public: true,
        invite_only: false,
        history_public_to_subscribers: true,
      });
    });

    it('gives guests read access without a subscription until the channel is no longer web-public', async () => {
      const read = async () =>
        (await organisation.ask('guest', 'GET', `streams/${channel.id}`)).body.msg || 'read';
      expect(await read()).toBe('Invalid channel ID');
      await channel.updated('owner', { is_web_public: true });
      expect(await read()).toBe('read');
      await channel.updated('owner', { is_web_public: false });
      expect(await read()).toBe('Invalid channel ID');
      expect(await channel.read()).toMatchObject({ is_web_public: false, invite_only: false });
    });
  });

  it.each([
    { is_web_public: true, is_private: true },
    { is_web_public: true, history_public_to_subscribers: false },
  ])('refuses %j', async (fields) => {
    const { status, body } = await channel.update('owner', fields);
    expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Invalid parameters']);
    await channel.updated('owner', { is_web_public: true });
    const again = await channel.update('owner', { history_public_to_subscribers: false });
    expect([again.status, again.body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
