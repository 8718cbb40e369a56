import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { ChannelUnderTest } from '../channel-administration/channel-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  it('a guest who cannot see all users sees only users in a shared channel or conversation', async () => {
    const members = await organisation.roleGroup('members');
    await organisation.do('owner', 'PATCH', 'realm', { can_access_all_users_group: { new: members } });
    const seen = async (parameters = {}) => {
      const { members: users } = await organisation.do('guest', 'GET', 'users', parameters);
      return (users as { user_id: number; is_bot: boolean }[])
        .filter(({ is_bot }) => !is_bot)
        .map(({ user_id }) => user_id);
    };
    expect(await seen()).toEqual([organisation.id('guest')]);
    const channel = new ChannelUnderTest(organisation);
    await channel.make('member');
    await channel.add('guest');
    expect(await seen()).toEqual([organisation.id('member'), organisation.id('guest')]);
    await organisation.do('second', 'POST', 'messages', {
      type: 'direct',
      to: [organisation.id('guest')],
      content: 'hello',
    });
    expect(await seen()).toContain(organisation.id('second'));
    const user_ids = (['owner', 'member', 'second'] as const).map((who) => organisation.id(who));
    expect(await seen({ user_ids })).toEqual([organisation.id('member'), organisation.id('second')]);
    const subscriptions = [channel.name];
    await organisation.do('guest', 'DELETE', 'users/me/subscriptions', { subscriptions });
    expect(await seen()).not.toContain(organisation.id('member'));
  });
});
