import { plainText } from '@waxwing/markdown';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channel: { readonly id: number };
  let issues: number;

  beforeAll(async () => {
    channel = await addChannel(organisation, { members: ['member'] });
  });

  beforeEach(async () => {
    const { linkifiers } = await organisation.do('owner', 'GET', 'realm/linkifiers');
    for (const { id } of linkifiers as { id: number }[])
      await organisation.do('owner', 'DELETE', `realm/filters/${id}`);
    issues = await add('#(?P<id>[0-9]+)', 'https://tracker.example.com/{id}');
  });

  async function add(pattern: string, url_template: string): Promise<number> {
    return (await organisation.do('owner', 'POST', 'realm/filters', { pattern, url_template })).id as number;
  }

  async function send(content: string): Promise<number> {
    const message = { type: 'channel', to: String(channel.id), topic: 'lunch', content };
    return (await organisation.do('member', 'POST', 'messages', message)).id as number;
  }

  async function html(id: number): Promise<string> {
    const { message } = await organisation.do('member', 'GET', `messages/${id}`);
    return (message as { content: string }).content;
  }

  const render = async (content: string) =>
    (await organisation.do('member', 'POST', 'messages/render', { content })).rendered;

  const link = (host: string, text: string) => `<a href="https://${host}.example.com/7">${text}</a>`;

  it('sent and edited messages get links from the current linkifiers', async () => {
    const id = await send('see #7');
    expect(await html(id)).toBe(`<p>see ${link('tracker', '#7')}</p>`);
    await organisation.do('owner', 'PATCH', `realm/filters/${issues}`, {
      pattern: 'T(?P<id>[0-9]+)',
      url_template: 'https://tickets.example.com/{id}',
    });
    expect(await html(id)).toBe(`<p>see ${link('tracker', '#7')}</p>`);
    await organisation.do('member', 'PATCH', `messages/${id}`, { content: 'see #7 and T7' });
    expect(await html(id)).toBe(`<p>see #7 and ${link('tickets', 'T7')}</p>`);
    await organisation.do('owner', 'DELETE', `realm/filters/${issues}`);
    expect(await html(await send('T7'))).toBe('<p>T7</p>');
  });

  it('the first of two linkifiers that match the same text creates the link', async () => {
    const numbers = await add('(?P<mark>#)(?P<id>[0-9]+)', 'https://numbers.example.com/{id}{?mark}');
    expect(await render('#7')).toBe(`<p>${link('tracker', '#7')}</p>`);
    await organisation.do('owner', 'PATCH', 'realm/linkifiers', { ordered_linkifier_ids: [numbers, issues] });
    expect(await render('#7')).toBe('<p><a href="https://numbers.example.com/7?mark=%23">#7</a></p>');
  });

  it('linkifiers create no links to other schemes, and also apply to channel descriptions', async () => {
    await add('run (?P<code>.+)', '{+code}');
    expect(await render('run javascript:alert(1)')).toBe('<p>run javascript:alert(1)</p>');
    await organisation.do('owner', 'PATCH', `streams/${channel.id}`, { description: 'for #7' });
    const { stream } = await organisation.do('member', 'GET', `streams/${channel.id}`);
    expect(stream).toMatchObject({ rendered_description: `<p>for ${link('tracker', '#7')}</p>` });
  });

  it('phones show the typed text of a message', async () => {
    expect(plainText(await html(await send('see #7, *now*')))).toBe('see #7, now');
  });
});
