import { expect, it } from 'vitest';
import { messageProblems } from '../../../../support/check-messages.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post, stored } from './moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const db = () => organisation.server.server.database.db;
  let files = 0;

  async function upload(who: 'member' | 'second'): Promise<{ id: number; path: string }> {
    files += 1;
    const path = `1/aa/${'x'.repeat(20)}${String(files).padStart(4, '0')}/file.txt`;
    const { id } = await db()
      .insertInto('attachments')
      .values({
        path_id: path,
        owner_id: organisation.id(who),
        file_name: 'file.txt',
        content_type: 'text/plain',
        size_bytes: 3,
        created_at: organisation.server.now,
        is_stored: 1,
        unclaimed_since: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return { id, path };
  }
  const edit = (id: number, fields: Record<string, unknown>) =>
    organisation.do('member', 'PATCH', `messages/${id}`, fields);

  it('an edit returns only those of the editor’s files that no message refers to anymore', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
    const [gone, shared, foreign] = [await upload('member'), await upload('member'), await upload('second')];
    await post(organisation, { by: 'second', channelId, content: `[c](/user_uploads/${foreign.path})` });
    const [first = 0] = await post(
      organisation,
      {
        channelId,
        content: [gone, shared, foreign].map(({ path }) => `[f](/user_uploads/${path})`).join(' '),
      },
      { channelId, content: `[b](/user_uploads/${shared.path})` },
    );
    expect((await stored(organisation, first))?.has_attachment).toBe(1);
    expect((await edit(first, { topic: 'dinner' })).detached_uploads).toEqual([]);
    expect((await edit(first, { content: 'none' })).detached_uploads).toEqual([
      {
        id: gone.id,
        name: 'file.txt',
        path_id: gone.path,
        size: 3,
        create_time: organisation.server.now,
        messages: [],
      },
    ]);
    expect((await stored(organisation, first))?.has_attachment).toBe(0);
    expect(await messageProblems(db())).toEqual([]);
  });

  it('an edit that links a file records the reference and notifies the file’s owner', async () => {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const [id = 0] = await post(organisation, { channelId });
    const file = await upload('member');
    const events = await organisation.watch('member', { event_types: '["attachment"]' });
    await edit(id, { content: `[a](/user_uploads/${file.path})` });
    expect(await events()).toMatchObject([
      { type: 'attachment', op: 'update', attachment: { id: file.id, message_ids: [id] } },
    ]);
    expect((await stored(organisation, id))?.has_attachment).toBe(1);
  });
});
