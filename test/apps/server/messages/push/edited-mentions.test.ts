import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedPush } from './push-under-test.js';

eachBackend((backend) => {
  const push = sharedPush(backend);
  const edit = (id: number, content: string, fields: Record<string, string> = {}) =>
    push.arriving(() => push.do(push.bob, 'PATCH', `messages/${id}`, { content, ...fields }));
  const sendQuietly = async (content: string) => {
    const channel = await push.channel([push.ada, push.bob]);
    let id = 0;
    const told = await push.arriving(async () => {
      id = await push.sendToChannel(channel, content);
    });
    return { id, told };
  };

  describe('an edit', () => {
    it('tells the phones of those whom it mentions and the former text did not, once', async () => {
      const { id, told } = await sendQuietly('hello');
      expect(told).toEqual([]);
      const time = push.server.now / 1000;
      push.server.now += 60_000;
      const arrived = await edit(id, `hello ${push.mention}`, { topic: 'another' });
      // The time of the message and not of the edit: phones tell messages apart by it.
      expect(arrived).toMatchObject([{ type: 'message', message_id: id, time, topic: 'another' }]);
      expect(await edit(id, `hello again ${push.mention}`)).toEqual([]);
      await edit(id, 'nobody');
      expect(await edit(id, push.mention)).toEqual([]);
    });

    it('that mentions everybody tells phones, too', async () => {
      const { id } = await sendQuietly('hello');
      expect(await edit(id, '@**all** hello')).toMatchObject([{ type: 'message', message_id: id }]);
    });

    it('that mentions by name tells phones that were not to know of a mention of everybody', async () => {
      const channel = await push.channel([push.ada, push.bob]);
      const muted = { stream_id: String(channel), topic: 't', visibility_policy: '1' };
      await push.do(push.ada, 'POST', 'user_topics', muted);
      let id = 0;
      const told = await push.arriving(async () => {
        id = await push.sendToChannel(channel, '@**all** hello');
      });
      expect(told).toEqual([]);
      const arrived = await edit(id, `@**all** hello ${push.mention}`);
      expect(arrived).toMatchObject([{ type: 'message', message_id: id }]);
    });

    it('tells no phone of a mention that it had before', async () => {
      const { id, told } = await sendQuietly(push.mention);
      expect(told).toMatchObject([{ type: 'message' }]);
      expect(await edit(id, `${push.mention} and more`)).toEqual([]);
      expect(await edit(id, `${push.mention} @**all**`)).toEqual([]);
    });

    it('tells no phone of what is read already', async () => {
      const { id } = await sendQuietly('hello');
      await push.do(push.ada, 'POST', 'messages/flags', { messages: `[${id}]`, op: 'add', flag: 'read' });
      expect(await edit(id, push.mention)).toEqual([]);
    });

    it('of a direct message tells nobody again', async () => {
      const id = await push.send(push.bob, { ...push.toAda, content: 'hello' });
      await push.server.settle();
      expect(await edit(id, push.mention)).toEqual([]);
    });
  });
});
