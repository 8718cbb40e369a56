import { expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { sendingUnderTest } from './sending-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { send } = sendingUnderTest(organisation);

  it('the response to a sent message has links to the message, as a URL and in Markdown', async () => {
    const channel = await addChannel(organisation, { members: ['member'] });
    const to = { type: 'channel', to: channel.id, content: 'a' };
    const links = async (who: 'member', fields: Record<string, unknown>) => {
      const { id, message_url, message_link } = (await send(who, fields)).body;
      return [message_url, message_link].map((text) => String(text).replace(`near/${id}`, 'near/ID'));
    };
    const base = `https://chat.example.com/#narrow/channel/${channel.id}-${channel.name.replace(' ', '-')}`;
    expect(await links('member', { ...to, topic: 'a b?' })).toEqual([
      `${base}/topic/a.20b.3F/near/ID`,
      `[#${channel.name} > a b? @ 💬](${base}/topic/a.20b.3F/near/ID)`,
    ]);
    expect(await links('member', { ...to, topic: '' })).toEqual([
      `${base}/topic//near/ID`,
      `[#${channel.name} > general chat @ 💬](${base}/topic//near/ID)`,
    ]);
    const [, disguised] = await links('member', { ...to, topic: '](https://evil.example)' });
    expect(disguised).toContain(' > &#93;(https://evil.example) @ 💬](https://chat.example.com/');
    const direct = { type: 'direct', content: 'a' };
    const { second, owner, member } = organisation.accounts;
    for (const [others, slug] of [
      [[second.userId], `${second.userId}-dm`],
      [[second.userId, owner.userId], `${owner.userId},${second.userId}-group`],
      [[member.userId], `${member.userId}-dm`],
    ] as const) {
      const url = `https://chat.example.com/#narrow/dm/${slug}/near/ID`;
      expect(await links('member', { ...direct, to: others })).toEqual([url, url]);
    }
  });
});
