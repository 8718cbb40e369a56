import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { picture, upload } from './send-file.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = 'member' | 'second' | 'owner';
  const newFile = async (who: Who) => {
    const path = await upload(organisation, organisation.accounts[who]);
    return { path, text: `[cat](/user_uploads/${path})` };
  };
  const send = async (who: Who, to: number, content: string) =>
    Number((await organisation.do(who, 'POST', 'messages', { type: 'channel', to, topic: 'a', content })).id);
  const edit = async (who: Who, id: number, content: string) =>
    (await organisation.do(who, 'PATCH', `messages/${id}`, { content })).detached_uploads as {
      path_id: string;
    }[];
  const get = async (who: Who, path: string) => {
    const { authorization } = organisation.accounts[who];
    const url = `/user_uploads/${path}`;
    return organisation.server.server.app.inject({ method: 'GET', url, headers: { authorization } });
  };
  const listed = async (who: Who, path: string) => {
    const { attachments } = await organisation.do(who, 'GET', 'attachments');
    return (attachments as { path_id: string; message_ids: unknown[] }[]).find(
      ({ path_id }) => path_id === path,
    );
  };

  it('a file that an edit detaches is listed with all its fields, and can still be loaded', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const { path, text } = await newFile('member');
    const uploadedAt = organisation.server.now;
    organisation.server.now += 1000;
    const id = await send('member', channelId, text);
    expect(await edit('member', id, 'none')).toEqual([
      {
        id: expect.any(Number),
        name: 'cat.png',
        path_id: expect.stringMatching(/^1\/[0-9a-f]{2}\/[\w-]{24}\/cat\.png$/),
        size: picture.content.length,
        create_time: uploadedAt,
        messages: [],
      },
    ]);
    const { statusCode, payload } = await get('member', path);
    expect([statusCode, payload]).toEqual([200, picture.content]);
  });

  it('a file that any message still refers to is not detached', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
    const { path, text } = await newFile('member');
    const own = await send('member', channelId, text);
    const others = await send('second', channelId, text);
    expect(await edit('member', own, 'none')).toEqual([]);
    expect((await listed('member', path))?.message_ids).toEqual([others]);
  });

  it('a file of another user is not listed for the editor', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
    const { text } = await newFile('second');
    const sent = await send('second', channelId, text);
    const again = await send('member', channelId, text);
    expect(await edit('second', sent, text)).toEqual([]);
    expect(await edit('member', again, 'none')).toEqual([]);
  });

  it('an edit that guesses the path of a file that the editor cannot read gives no user access to it', async () => {
    const hidden = await addChannel(organisation, { isPrivate: true, members: ['owner'] });
    const open = await addChannel(organisation, { members: ['member', 'second'] });
    const { path, text } = await newFile('owner');
    await send('owner', hidden.id, text);
    const id = await send('member', open.id, 'hello');
    await edit('member', id, text);
    expect((await get('member', path)).statusCode).toBe(404);
    expect((await get('second', path)).statusCode).toBe(404);
    expect((await listed('owner', path))?.message_ids).toHaveLength(1);
  });
});
