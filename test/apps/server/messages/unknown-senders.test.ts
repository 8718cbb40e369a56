import { beforeAll, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel } from './chat-under-test.js';

type SenderFields = Record<'sender_full_name' | 'sender_email' | 'avatar_url', unknown>;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channel: { id: number; name: string };
  const restrict = async (to: 'members' | 'everyone') =>
    organisation.do('owner', 'PATCH', 'realm', {
      can_access_all_users_group: { new: await organisation.roleGroup(to) },
    });
  const send = async (who: 'member' | 'second' | 'bot') => {
    const wish = { type: 'channel', to: channel.id, topic: 'a', content: 'a' };
    return Number((await organisation.do(who, 'POST', 'messages', wish)).id);
  };
  const senderOf = (message: unknown) => {
    const { sender_full_name, sender_email, avatar_url } = message as SenderFields;
    return { sender_full_name, sender_email, avatar_url };
  };
  const asRead = async (who: 'guest' | 'moderator', id: number) => {
    const read = { message_ids: [id], client_gravatar: false };
    const { messages } = await organisation.do(who, 'GET', 'messages', read);
    const one = await organisation.do(who, 'GET', `messages/${id}`);
    const [first] = (messages as unknown[]).map(senderOf);
    expect(senderOf(one.message).sender_full_name).toBe(first?.sender_full_name);
    return first;
  };
  const watch = async (who: 'guest' | 'moderator') => {
    const wish = { event_types: '["message"]', client_gravatar: 'false' };
    const read = await organisation.watch(who, wish);
    return async () => (await read()).map((event) => senderOf((event as { message: unknown }).message));
  };

  beforeAll(async () => {
    channel = await addChannel(organisation, { members: ['guest', 'member', 'moderator'] });
    await restrict('members');
  });

  it('a guest who cannot see a sender gets no name, address or avatar of that sender', async () => {
    const [guest, moderator] = [await watch('guest'), await watch('moderator')];
    const id = await send('second');
    const unknown = {
      sender_full_name: 'Unknown user',
      sender_email: `user${organisation.id('second')}@chat.example.com`,
    };
    const ofGuest = await asRead('guest', id);
    expect(ofGuest).toMatchObject(unknown);
    expect(await guest()).toEqual([ofGuest]);
    const known = { sender_full_name: 'Somebody', sender_email: 'second@example.com' };
    const ofModerator = await asRead('moderator', id);
    expect(ofModerator).toMatchObject(known);
    expect(await moderator()).toEqual([ofModerator]);
    expect(ofGuest?.avatar_url).not.toBe(ofModerator?.avatar_url);
  });

  it("the narrow of a guest's queue does not reveal hidden addresses", async () => {
    const of = (address: string) =>
      organisation.watch('guest', {
        event_types: '["message"]',
        narrow: JSON.stringify([['sender', address]]),
      });
    const real = await of('second@example.com');
    const shown = await of(`user${organisation.id('second')}@chat.example.com`);
    await send('second');
    expect(await real()).toEqual([]);
    expect(await shown()).toHaveLength(1);
  });

  it('a guest can see bots and senders in the same channel', async () => {
    const guest = await watch('guest');
    const ids = [await send('member'), await send('bot')];
    const names = ['Somebody', 'Somebody'];
    expect((await guest()).map(({ sender_full_name: name }) => name)).toEqual(names);
    for (const [index, id] of ids.entries())
      expect(await asRead('guest', id)).toMatchObject({ sender_full_name: names[index] });
  });

  it('a guest can see all senders if the organization shows all users to guests', async () => {
    await restrict('everyone');
    const guest = await watch('guest');
    const id = await send('second');
    expect(await guest()).toEqual([await asRead('guest', id)]);
    expect(await asRead('guest', id)).toMatchObject({ sender_full_name: 'Somebody' });
    await restrict('members');
  });
});
