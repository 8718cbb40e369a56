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
    it('notifies the phones of newly mentioned users exactly once', async () => {
      const { id, told } = await sendQuietly('hello');
      expect(told).toEqual([]);
      const time = push.server.now / 1000;
      push.server.now += 60_000;
      const arrived = await edit(id, `hello ${push.mention}`, { topic: 'another' });
      // The message's time, not the edit's, because phones identify messages by it.
      expect(arrived).toMatchObject([{ type: 'message', message_id: id, time, topic: 'another' }]);
      expect(await edit(id, `hello again ${push.mention}`)).toEqual([]);
      await edit(id, 'nobody');
      expect(await edit(id, push.mention)).toEqual([]);
    });

    it('notifies phones if it mentions all users', async () => {
      const { id } = await sendQuietly('hello');
      expect(await edit(id, '@**all** hello')).toMatchObject([{ type: 'message', message_id: id }]);
    });

    it('notifies phones that ignored a mention of all users if the new text mentions the user by name', async () => {
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

    it('does not notify phones of an earlier mention again', async () => {
      const { id, told } = await sendQuietly(push.mention);
      expect(told).toMatchObject([{ type: 'message' }]);
      expect(await edit(id, `${push.mention} and more`)).toEqual([]);
      expect(await edit(id, `${push.mention} @**all**`)).toEqual([]);
    });

    it('does not notify phones of a message that the user has read', async () => {
      const { id } = await sendQuietly('hello');
      await push.do(push.ada, 'POST', 'messages/flags', { messages: `[${id}]`, op: 'add', flag: 'read' });
      expect(await edit(id, push.mention)).toEqual([]);
    });

    it('of a direct message does not notify phones again', async () => {
      const id = await push.send(push.bob, { ...push.toAda, content: 'hello' });
      await push.server.settle();
      expect(await edit(id, push.mention)).toEqual([]);
    });
  });
});
