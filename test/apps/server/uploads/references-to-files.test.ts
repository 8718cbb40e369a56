import type { MessageId } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import {
  dropReferences,
  lockReferredUploads,
  planDetached,
  type ReferredUpload,
  releaseUploads,
} from '#server/content/uploads/attachment-references.js';
import type { ServerTransaction } from '#server/tables.js';
import { userId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { post } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { picture, upload } from './send-file.js';
import { sendMessage, toChannel } from './send-message.js';

describe('the effect of an edited text on a message’s files', () => {
  const file = (id: number, fields: Partial<ReferredUpload> = {}): ReferredUpload => ({
    id,
    pathId: `1/ab/${id}`,
    ownerId: userId(1),
    fileName: 'cat.png',
    contentType: 'image/png',
    sizeBytes: 1,
    createdAt: 0,
    isReferredElsewhere: false,
    ...fields,
  });

  it('is empty if the text names the same files', () => {
    expect(planDetached([file(1)], ['1/ab/1'], userId(1))).toEqual({
      claimed: [],
      droppedIds: [],
      detached: [],
    });
  });

  it('claims each new reference once, and drops removed references', () => {
    expect(planDetached([file(1)], ['1/ab/2', '1/ab/2'], userId(1))).toEqual({
      claimed: ['1/ab/2'],
      droppedIds: [1],
      detached: [file(1)],
    });
  });

  it('detaches only the editor’s own files without other references', () => {
    const others = file(2, { ownerId: userId(2) });
    const shared = file(3, { isReferredElsewhere: true });
    const plan = planDetached([file(1), others, shared], [], userId(1));
    expect(plan.droppedIds).toEqual([1, 2, 3]);
    expect(plan.detached.map(({ id }) => id)).toEqual([1]);
  });
});

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const write = <T>(work: (transaction: ServerTransaction) => Promise<T>) =>
    organisation.server.server.database.write(work);

  async function newFile() {
    const path = await upload(organisation, organisation.accounts.member);
    return { path, text: `[cat](/user_uploads/${path})` };
  }

  async function recordOf(path: string) {
    const { attachments } = await organisation.do('member', 'GET', 'attachments');
    return (attachments as { path_id: string; message_ids: unknown[]; id: number }[]).find(
      ({ path_id }) => path_id === path,
    );
  }

  const unclaimedSince = async (path: string) =>
    (
      await organisation.server.server.database.db
        .selectFrom('attachments')
        .select('unclaimed_since')
        .where('path_id', '=', path)
        .executeTakeFirst()
    )?.unclaimed_since;

  describe('a message that refers to files', () => {
    it('is listed with each file, and the owner of the files gets an event', async () => {
      const one = await newFile();
      const two = await newFile();
      const { id } = await addChannel(organisation);
      const events = await organisation.watch('member', { event_types: '["attachment"]' });
      const others = await organisation.watch('owner', { event_types: '["attachment"]' });
      const message = await sendMessage(
        organisation,
        'member',
        toChannel(id),
        `${one.text} ${two.text} ${one.text}`,
      );
      const message_ids = [message];
      expect(await recordOf(one.path)).toMatchObject({ message_ids });
      expect(await recordOf(two.path)).toMatchObject({ message_ids, size: picture.content.length });
      const { upload_space_used } = await organisation.do('member', 'GET', 'attachments');
      expect(await events()).toEqual(
        [await recordOf(one.path), await recordOf(two.path)].map((attachment) => ({
          type: 'attachment',
          op: 'update',
          attachment,
          upload_space_used,
        })),
      );
      expect(await others()).toEqual([]);
      expect(await unclaimedSince(one.path)).toBeNull();
    });

    it('is listed and published only if it is one of the hundred newest messages that refer to a file', async () => {
      const { path, text } = await newFile();
      const { id: channelId } = await addChannel(organisation);
      const drafts = Array.from({ length: 101 }, () => ({ channelId }));
      const ids = await post(organisation, ...drafts);
      const attachment_id = (await recordOf(path))?.id ?? 0;
      await write(({ db }) =>
        db
          .insertInto('attachment_messages')
          .values(ids.map((message_id) => ({ attachment_id, message_id })))
          .execute(),
      );
      const events = await organisation.watch('member', { event_types: '["attachment"]' });
      const last = await sendMessage(organisation, 'member', toChannel(channelId), text);
      const [event] = (await events()) as { attachment: { message_ids: number[] } }[];
      expect(event?.attachment.message_ids).toEqual([...ids.slice(2), last]);
      expect((await recordOf(path))?.message_ids).toEqual(event?.attachment.message_ids);
    });

    it('releases the removed files when its text changes', async () => {
      const { path, text } = await newFile();
      const kept = await newFile();
      const { id } = await addChannel(organisation);
      const first = await sendMessage(organisation, 'member', toChannel(id), `${text} ${kept.text}`);
      const second = await sendMessage(organisation, 'member', toChannel(id), text);
      const edit = (message: MessageId) =>
        write(async (transaction) => {
          const referred = await lockReferredUploads(transaction, message);
          const plan = planDetached(referred, [kept.path], organisation.id('member'));
          await dropReferences(transaction, message, plan.droppedIds, organisation.server.now);
          return plan.detached.map(({ pathId }) => pathId);
        });
      expect(await edit(first)).toEqual([]);
      expect((await recordOf(path))?.message_ids).toEqual([second]);
      expect(await unclaimedSince(path)).toBeNull();
      expect(await edit(second)).toEqual([path]);
      expect((await recordOf(path))?.message_ids).toEqual([]);
      expect(await unclaimedSince(path)).toBe(organisation.server.now);
      expect(await recordOf(kept.path)).toMatchObject({ message_ids: [first] });
    });

    it('releases files without other references when it is deleted', async () => {
      const shared = await newFile();
      const own = await newFile();
      const { id } = await addChannel(organisation);
      const gone = await sendMessage(organisation, 'member', toChannel(id), `${shared.text} ${own.text}`);
      const stays = await sendMessage(organisation, 'member', toChannel(id), shared.text);
      await write((transaction) => releaseUploads(transaction, [gone], organisation.server.now));
      expect(await unclaimedSince(own.path)).toBe(organisation.server.now);
      expect(await unclaimedSince(shared.path)).toBeNull();
      expect(await recordOf(shared.path)).toMatchObject({ message_ids: [stays] });
    });

    it('does not refer to a file that is still uploading, deleted or missing', async () => {
      const { path, text } = await newFile();
      await organisation.do('member', 'DELETE', `attachments/${(await recordOf(path))?.id}`);
      const { id } = await addChannel(organisation);
      const message = await sendMessage(organisation, 'member', toChannel(id), text);
      expect(await write((transaction) => lockReferredUploads(transaction, message))).toEqual([]);
    });
  });
});
