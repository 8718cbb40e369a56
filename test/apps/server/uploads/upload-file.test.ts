import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { fileForm, picture, sendForm, upload } from './send-file.js';

const shape = /^1\/[0-9a-f]{2}\/[\w-]{24}\/cat\.png$/;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { accounts } = organisation;
  const stored = (): string[] =>
    readdirSync(join(organisation.server.folder, 'uploads'), {
      recursive: true,
      withFileTypes: true,
    }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

  async function attachments(who: 'member' | 'second' = 'member') {
    const { attachments: all } = await organisation.do(who, 'GET', 'attachments');
    return all as { id: number; path_id: string; [field: string]: unknown }[];
  }

  describe('uploading a file', () => {
    it('succeeds if the file is stored but the database’s reply is lost', async () => {
      const { database } = organisation.server.server;
      const write = database.write.bind(database);
      const isStored = async () =>
        (await database.db.selectFrom('attachments').select('id').where('is_stored', '=', 1).execute())
          .length;
      const before = await isStored();
      let isLost = false;
      const spy = vi.spyOn(database, 'write').mockImplementation(async (work) => {
        const result = await write(work);
        if (isLost || (await isStored()) === before) return result;
        isLost = true;
        throw new Error('the connection was lost');
      });
      const { body } = await sendForm(organisation, accounts.member, fileForm());
      spy.mockRestore();
      expect([isLost, body.result]).toEqual([true, 'success']);
      const path = String(body.url).replace('/user_uploads/', '');
      expect((await attachments()).map(({ path_id }) => path_id)).toContain(path);
      expect(readFileSync(join(organisation.server.folder, 'uploads', path), 'utf8')).toBe(picture.content);
    });

    it('stores the file, returns its URL under both names, and notifies the owner', async () => {
      const events = await organisation.watch('member');
      const others = await organisation.watch('second');
      const { upload_space_used: before } = await organisation.do('member', 'GET', 'attachments');
      const { body } = await sendForm(organisation, accounts.member, fileForm());
      const path = String(body.url).replace('/user_uploads/', '');
      expect(path).toMatch(shape);
      expect(body).toEqual({
        result: 'success',
        msg: '',
        uri: `/user_uploads/${path}`,
        url: `/user_uploads/${path}`,
        filename: 'cat.png',
      });
      expect(readFileSync(join(organisation.server.folder, 'uploads', path), 'utf8')).toBe(picture.content);
      const attachment = (await attachments()).at(-1);
      expect(attachment).toEqual({
        id: attachment?.id,
        name: 'cat.png',
        path_id: path,
        size: picture.content.length,
        create_time: organisation.server.now / 1000,
        message_ids: [],
      });
      const upload_space_used = Number(before) + picture.content.length;
      expect(await events()).toEqual([{ type: 'attachment', op: 'add', attachment, upload_space_used }]);
      expect(await others()).toEqual([]);
    });

    it.each(['guest', 'bot'] as const)('is allowed for all users, even for a %s', async (who) => {
      expect(await upload(organisation, accounts[who])).toMatch(shape);
    });

    it('accepts an empty file', async () => {
      await upload(organisation, accounts.member, { content: '' });
      expect((await attachments()).at(-1)).toMatchObject({ size: 0 });
    });

    it('shows the original name, and cleans the name in the path', async () => {
      const path = await upload(organisation, accounts.member, { name: 'my <b>cat</b>\u202E (1).PNG' });
      expect(path.split('/').at(-1)).toBe('b-1.PNG');
      expect((await attachments()).at(-1)).toMatchObject({ name: 'b> (1).PNG' });
    });

    it('refuses a form without a file', async () => {
      const { headers } = fileForm();
      const payload = '--x\r\ncontent-disposition: form-data; name="note"\r\n\r\nnothing\r\n--x--\r\n';
      expect(await sendForm(organisation, accounts.member, { headers, payload })).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: 'You must specify a file to upload' },
      });
    });

    it('refuses several files and stores none of them', async () => {
      const before = [stored(), await attachments()];
      const answer = await sendForm(organisation, accounts.member, fileForm({}, { name: 'other.png' }));
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: 'You may only send one file at a time' },
      });
      expect([stored(), await attachments()]).toEqual(before);
    });

    it('stores nothing of a truncated form', async () => {
      const before = [stored(), await attachments()];
      const { headers, payload } = fileForm({ content: 'x'.repeat(100_000) });
      for (const length of [payload.length - 12, payload.length - 3, 50_000]) {
        const half = { headers, payload: payload.slice(0, length) };
        expect(await sendForm(organisation, accounts.member, half)).toMatchObject({ status: 400 });
      }
      expect([stored(), await attachments()]).toEqual(before);
      const rows = await organisation.server.server.database.db
        .selectFrom('attachments')
        .select('id')
        .where('is_stored', '=', 0)
        .execute();
      expect(rows).toEqual([]);
    });

    it('reports an error after the file in the form, and stores nothing', async () => {
      const before = [stored(), await attachments()];
      const { headers, payload } = fileForm({ content: 'x'.repeat(100_000) });
      const behind = `--x\r\ncontent-disposition: form-data; name="${'n'.repeat(101)}"\r\n\r\n1\r\n--x--\r\n`;
      const form = { headers, payload: payload.replace('--x--\r\n', behind) };
      expect(await sendForm(organisation, accounts.member, form)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: 'The name of a part must be at most 100 bytes' },
      });
      expect([stored(), await attachments()]).toEqual(before);
    });

    it('refuses a file that is too large', async () => {
      const before = stored();
      const large = fileForm({ content: 'x'.repeat(100 * 1024 * 1024 + 1) });
      expect(await sendForm(organisation, accounts.member, large)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: expect.stringContaining('larger than 100 MiB') },
      });
      expect(stored()).toEqual(before);
    });

    it('requires credentials', async () => {
      expect(await sendForm(organisation, { authorization: 'Basic bm9ib2R5Ong=' }, fileForm())).toMatchObject(
        { status: 401 },
      );
    });
  });

  describe('deleting a file', () => {
    it('deletes the file from the store, frees its bytes, and notifies the owner', async () => {
      const path = await upload(organisation, accounts.member);
      const id = (await attachments()).at(-1)?.id;
      const events = await organisation.watch('member');
      const { upload_space_used: before } = await organisation.do('member', 'GET', 'attachments');
      await organisation.do('member', 'DELETE', `attachments/${id}`);
      const upload_space_used = Number(before) - picture.content.length;
      expect(await events()).toEqual([
        { type: 'attachment', op: 'remove', attachment: { id }, upload_space_used },
      ]);
      expect((await attachments()).some(({ path_id }) => path_id === path)).toBe(false);
      expect(() => readFileSync(join(organisation.server.folder, 'uploads', path))).toThrow('ENOENT');
    });

    it('fails with the same error for another user’s file as for a missing file', async () => {
      await upload(organisation, accounts.member);
      const { id } = (await attachments()).at(-1) ?? {};
      for (const refused of [id, 999_999]) {
        expect(await organisation.ask('second', 'DELETE', `attachments/${refused}`)).toMatchObject({
          status: 400,
          body: { code: 'BAD_REQUEST', msg: 'Invalid attachment' },
        });
      }
      expect((await attachments()).at(-1)).toMatchObject({ id });
    });
  });
});
