import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeUnclaimedUploads } from '#server/content/uploads/remove-unclaimed-uploads.js';
import { openUploads } from '#server/content/uploads/uploads.js';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { OrganisationUnderTest } from '../organisation-under-test.js';
import { fileForm, picture, sendForm, upload } from './send-file.js';
import { sendMessage, toChannel } from './send-message.js';

const day = 24 * 60 * 60_000;

eachBackend((backend) => {
  let organisation: OrganisationUnderTest;
  beforeEach(async () => {
    organisation = new OrganisationUnderTest();
    await organisation.start(await backend.freshUrl());
  });
  afterEach(() => organisation.server.close());

  const folder = () => join(organisation.server.folder, 'uploads');
  const isThere = (path: string) => existsSync(join(folder(), path));
  const { signal } = new AbortController();

  async function cleanUp(): Promise<number> {
    const { database } = organisation.server.server;
    const store = { kind: 'disk', folder: folder() } as const;
    const uploads = await openUploads(database, { store, quotaBytes: undefined });
    const { log } = organisation.server.logged;
    return removeUnclaimedUploads({ database, uploads, log, clock: () => organisation.server.now }, signal);
  }

  async function used(): Promise<unknown> {
    return (await organisation.do('member', 'GET', 'attachments')).upload_space_used;
  }

  describe('a file that no message refers to', () => {
    it('is removed after four weeks, with its bytes in the store', async () => {
      const path = await upload(organisation, organisation.accounts.member);
      const kept = await upload(organisation, organisation.accounts.member);
      const { id } = await addChannel(organisation);
      await sendMessage(organisation, 'member', toChannel(id), `[x](/user_uploads/${kept})`);
      organisation.server.now += 28 * day;
      expect([await cleanUp(), isThere(path)]).toEqual([0, true]);
      organisation.server.now += 1;
      expect([await cleanUp(), isThere(path), isThere(kept)]).toEqual([1, false, true]);
      const { attachments } = await organisation.do('member', 'GET', 'attachments');
      expect(attachments).toMatchObject([{ path_id: kept }]);
      expect(await used()).toBe(picture.content.length);
      expect(await cleanUp()).toBe(0);
    });

    it('is removed in batches if there are many', async () => {
      for (let count = 0; count < 60; count++) await upload(organisation, organisation.accounts.member);
      organisation.server.now += 29 * day;
      expect(await cleanUp()).toBe(60);
      expect(await used()).toBe(0);
    });

    it('does not block the removal of other files if it cannot be removed, and its removal is retried', async () => {
      const stuck = await upload(organisation, organisation.accounts.member);
      const path = await upload(organisation, organisation.accounts.member);
      const place = join(folder(), stuck);
      rmSync(place);
      mkdirSync(join(place, 'something'), { recursive: true });
      organisation.server.now += 29 * day;
      expect([await cleanUp(), isThere(path)]).toEqual([1, false]);
      const told = organisation.server.logged.lines().filter((line) => line.path === stuck);
      expect(told.map(({ msg }) => msg)).toEqual([
        'an uploaded file could not be removed; the removal will be retried',
      ]);
      rmSync(place, { recursive: true });
      expect(await cleanUp()).toBe(1);
    });

    it('stays if the cleanup is aborted', async () => {
      const path = await upload(organisation, organisation.accounts.member);
      organisation.server.now += 29 * day;
      const { database } = organisation.server.server;
      const store = { kind: 'disk', folder: folder() } as const;
      const uploads = await openUploads(database, { store, quotaBytes: undefined });
      const { log } = organisation.server.logged;
      const context = { database, uploads, log, clock: () => organisation.server.now };
      expect(await removeUnclaimedUploads(context, AbortSignal.abort())).toBe(0);
      expect(isThere(path)).toBe(true);
    });
  });

  it('an unfinished upload of a crashed server is removed after a day', async () => {
    const path = await upload(organisation, organisation.accounts.member);
    await organisation.server.server.database.write(({ db }) =>
      db.updateTable('attachments').set({ is_stored: 0, size_bytes: 0 }).execute(),
    );
    organisation.server.now += day;
    expect([await cleanUp(), isThere(path)]).toEqual([0, true]);
    organisation.server.now += 1;
    expect([await cleanUp(), isThere(path)]).toEqual([1, false]);
  });
});

eachBackend((backend) => {
  const organisation = new OrganisationUnderTest();
  afterEach(() => organisation.server.close());

  it('an organization accepts files up to its quota, even in concurrent uploads', async () => {
    await organisation.start(await backend.freshUrl(), { uploads: { quotaBytes: 100 } });
    const send = (content: string) =>
      sendForm(organisation, organisation.accounts.member, fileForm({ content }));
    const sixty = 'x'.repeat(60);
    const answers = await Promise.all([send(sixty), send(sixty)]);
    expect(answers.map(({ body }) => body.code ?? 'success').sort()).toEqual([
      'REALM_UPLOAD_QUOTA',
      'success',
    ]);
    expect((await send('x'.repeat(40))).status).toBe(200);
    expect((await send('x')).body).toMatchObject({ code: 'REALM_UPLOAD_QUOTA' });
    const { attachments, upload_space_used } = await organisation.do('member', 'GET', 'attachments');
    expect([(attachments as unknown[]).length, upload_space_used]).toEqual([2, 100]);
    const [{ id }] = attachments as [{ id: number }];
    await organisation.do('member', 'DELETE', `attachments/${id}`);
    expect((await send('x')).status).toBe(200);
  });

  it.each([
    [undefined, null],
    [3 * 1024 ** 2, 3],
  ])('the register response states a quota of %s bytes as %s MiB', async (quotaBytes, told) => {
    await organisation.start(await backend.freshUrl(), { uploads: { quotaBytes } });
    const state = await organisation.do('member', 'POST', 'register', { event_types: ['realm'] });
    expect([state.realm_upload_quota_mib, state.max_file_upload_size_mib]).toEqual([told, 100]);
  });
});
