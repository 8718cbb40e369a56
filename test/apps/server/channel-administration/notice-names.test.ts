import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const link = '[Sign in](https://evil.example)';
const asText = (name: string) =>
  name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Names that contain Markdown. */
const names: readonly string[] = [
  ...[link, `x** ${link} **y`, `x* ${link} *y`, `x] ${link}`, `!${link}`, `\`\` \` ${link}`, `${link} \\`],
  ...['https://evil.example', 'evil.example', '<https://evil.example>', 'eve@evil.example'],
  ...['*x*', '**', '***x', '~~x~~', '$$x$$', '`x', '``', '<b>x</b>', '&lt;b&gt;', 'a>b', '#**general**'],
  ...[':smile:', '<time:2026-01-01T00:00:00Z>', 'a\\', '[x]: https://evil.example'],
];

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  /** The notification bot's messages in a channel, without the mention of the user who made the change. */
  async function notices(channelId: number): Promise<string[]> {
    const narrow = [{ operator: 'channel', operand: channelId }];
    const asked = { anchor: 'newest', num_before: 10, narrow, allow_empty_topic_name: true };
    const { messages } = await organisation.do('owner', 'GET', 'messages', asked);
    return (messages as { sender_full_name: string; content: string }[])
      .filter(({ sender_full_name: sender }) => sender === 'Notification Bot')
      .map(({ content }) => content.replace(/<span class="user-mention.*?<\/span>/, 'Somebody'));
  }

  describe('the notification bot', () => {
    it.each(names)('writes the name %j unchanged and ignores its Markdown', async (name) => {
      const place = await addChannel(organisation, { members: ['owner'], name: organisation.newName() });
      await organisation.do('owner', 'PATCH', 'realm', {
        new_stream_announcements_stream_id: place.id,
        send_channel_events_messages: false,
      });
      await organisation.do('member', 'POST', 'users/me/subscriptions', {
        subscriptions: [{ name }],
        announce: true,
      });
      const { stream_id: id } = await organisation.do('owner', 'GET', 'get_stream_id', { stream: name });
      const shown = asText(name);
      const [announcement = ''] = await notices(place.id);
      expect(announcement).toMatch(
        /^<p>Somebody created a new channel: <a [^>]*href="\/?#narrow\/channel[^>]*>/,
      );
      expect(announcement.replace(/<[^>]*>/g, '')).toBe(`Somebody created a new channel: #${shown}.`);

      await organisation.do('owner', 'PATCH', 'realm', { send_channel_events_messages: true });
      const { group_id: group } = await organisation.do('owner', 'POST', 'user_groups/create', {
        name,
        description: '',
        members: [organisation.id('member')],
      });
      await organisation.do('member', 'PATCH', `streams/${id}`, { new_name: `${name} 2` });
      await organisation.do('member', 'PATCH', `streams/${id}`, { can_send_message_group: { new: group } });
      await organisation.do('owner', 'DELETE', `streams/${id}`);
      await organisation.do('owner', 'PATCH', `streams/${id}`, { is_archived: false });
      const told = await notices(Number(id));
      expect(told).toHaveLength(3);
      for (const html of told)
        expect(html).not.toMatch(/href="(?!\/?#narrow)|<em>|<del>|<time|<b>|katex|emoji/);
      const texts = told.map((html) => html.replace(/<[^>]*>/g, ''));
      expect(texts[0]).toBe(`Somebody renamed this channel from ${shown} to ${shown} 2.`);
      expect(texts[1]).toContain(shown);
      expect(texts[2]).toBe(`The channel #${shown} 2 was unarchived.`);
    });
  });
});
