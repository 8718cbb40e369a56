import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel } from './chat-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const send = async (fields: Record<string, unknown>) =>
    Number((await organisation.do('member', 'POST', 'messages', { content: '*hello*', ...fields })).id);
  const read = (id: number) =>
    organisation.do('second', 'GET', `messages/${id}`, { allow_empty_topic_name: true });

  it('a channel message has an id, source, HTML, topic (perhaps empty) and channel', async () => {
    const { id: to } = await addChannel(organisation, { members: ['member', 'second'] });
    for (const topic of ['lunch', '']) {
      const id = await send({ type: 'channel', to, topic });
      expect(Number.isSafeInteger(id)).toBe(true);
      expect(await read(id)).toMatchObject({
        raw_content: '*hello*',
        message: {
          id,
          type: 'stream',
          subject: topic,
          stream_id: to,
          content: '<p><em>hello</em></p>',
        },
      });
    }
  });

  it('a direct message has no topic and no channel', async () => {
    const id = await send({ type: 'direct', to: [organisation.id('second')] });
    const { message } = await read(id);
    expect(message).toMatchObject({ id, type: 'private', subject: '', content: '<p><em>hello</em></p>' });
    expect(message).not.toHaveProperty('stream_id');
  });

  it('code blocks without a language use the organization’s default, even in quotes', async () => {
    const { id: to } = await addChannel(organisation, { members: ['member', 'second'] });
    await organisation.do('owner', 'PATCH', 'realm', { default_code_block_language: 'python' });
    for (const content of ['```\nx = 1\n```', '~~~\nx = 1\n~~~', '> ```\n> x = 1\n> ```']) {
      const { message } = await read(await send({ type: 'channel', to, topic: 'code', content }));
      expect((message as { content: string }).content).toContain('data-code-language="Python"');
    }
    await organisation.do('owner', 'PATCH', 'realm', { default_code_block_language: '' });
  });
});
