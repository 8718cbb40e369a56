import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { fileForm, type TestFile } from '../uploads/send-file.js';
import { givePicture, png, sendPicture, type Who } from './send-picture.js';

const gif: Partial<TestFile> = { name: 'me.gif', type: 'image/gif', content: 'GIF89a and the rest' };
const place = /^\/user_avatars\/1\/[0-9a-f]{2}\/[\w-]{24}\/avatar\.(png|jpeg|gif|webp)$/;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  const give = (who: Who, file?: Partial<TestFile>) => givePicture(organisation, who, file);
  const load = (url: string) => organisation.server.server.app.inject({ method: 'GET', url });

  async function shown(who: Who, reader: Who = 'second') {
    const { user } = await organisation.do(reader, 'GET', `users/${organisation.id(who)}`);
    return user as { avatar_url: string | null; avatar_version: number };
  }

  const stored = (): string[] =>
    readdirSync(join(organisation.server.folder, 'uploads'), {
      recursive: true,
      withFileTypes: true,
    }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

  describe('an avatar', () => {
    it('is served with its own type and a sandbox policy to any client that knows its URL', async () => {
      const url = await give('member');
      expect(url).toMatch(place);
      const answer = await load(url);
      expect([answer.statusCode, answer.rawPayload.toString('latin1')]).toEqual([200, png.content]);
      expect(answer.headers).toMatchObject({
        'content-type': 'image/png',
        'content-disposition': expect.stringMatching(/^inline; filename="avatar\.png"/),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
        'cache-control': 'private, max-age=604800, immutable',
      });
    });

    it('is published to clients that can see the user, and appears in users and messages', async () => {
      const { avatar_version: before } = await shown('member');
      const events = await organisation.watch('guest', { event_types: '["realm_user"]' });
      const url = await give('member');
      const picture = { avatar_url: url, avatar_version: before + 1 };
      expect(await shown('member')).toMatchObject(picture);
      const person = {
        user_id: organisation.id('member'),
        avatar_source: 'U',
        avatar_url_medium: url,
        ...picture,
      };
      expect(await events()).toEqual([{ type: 'realm_user', op: 'update', person }]);
      const own = await organisation.do('member', 'POST', 'register', {
        fetch_event_types: ['realm_user'],
        event_types: [],
      });
      expect(own).toMatchObject({ avatar_url: url, avatar_url_medium: url, avatar_source: 'U' });
      const to = [organisation.id('second')];
      const { id } = await organisation.do('member', 'POST', 'messages', {
        type: 'direct',
        to,
        content: 'hi',
      });
      const { message } = await organisation.do('second', 'GET', `messages/${id}`);
      expect(message).toMatchObject({ avatar_url: url });
    });

    it('is not published to clients that cannot see the user', async () => {
      const restrict = async (to: 'members' | 'everyone') =>
        organisation.do('owner', 'PATCH', 'realm', {
          can_access_all_users_group: { new: await organisation.roleGroup(to) },
        });
      await restrict('members');
      const [guest, member] = [
        await organisation.watch('guest', { event_types: '["realm_user"]' }),
        await organisation.watch('member', { event_types: '["realm_user"]' }),
      ];
      await give('owner');
      await organisation.do('owner', 'DELETE', 'users/me/avatar');
      await restrict('everyone');
      expect(await guest()).toEqual([]);
      expect(await member()).toHaveLength(2);
    });

    it('is replaced by the next upload, and the store deletes the old bytes', async () => {
      const first = await give('second');
      const count = stored().length;
      const second = await give('second', gif);
      expect((await load(first)).statusCode).toBe(404);
      expect((await load(second)).headers['content-type']).toBe('image/gif');
      expect(stored()).toHaveLength(count);
    });

    it('comes from the last of several concurrent uploads', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => sendPicture(organisation, 'moderator', png)));
      const urls = answers.map(({ body }) => String(body.avatar_url));
      const served = await Promise.all(urls.map(async (url) => (await load(url)).statusCode));
      expect([...served].sort()).toEqual([200, 404, 404]);
      expect((await shown('moderator')).avatar_url).toBe(urls[served.indexOf(200)]);
    });

    it('falls back to the Gravatar when the user removes it, and a second removal changes nothing', async () => {
      const url = await give('administrator');
      const { avatar_version: before } = await shown('administrator');
      const count = stored().length;
      const events = await organisation.watch('second', { event_types: '["realm_user"]' });
      const { avatar_url } = await organisation.do('administrator', 'DELETE', 'users/me/avatar');
      expect(avatar_url).toMatch(/^https:\/\/secure\.gravatar\.com\/avatar\//);
      expect(await organisation.do('administrator', 'DELETE', 'users/me/avatar')).toMatchObject({
        avatar_url,
      });
      expect(await shown('administrator')).toMatchObject({ avatar_url: null, avatar_version: before + 1 });
      expect(await events()).toMatchObject([
        { person: { avatar_source: 'G', avatar_url, avatar_version: before + 1 } },
      ]);
      expect((await load(url)).statusCode).toBe(404);
      expect(stored()).toHaveLength(count - 1);
    });

    it('is not an attachment that its owner can list or delete', async () => {
      const url = await give('bot');
      const { attachments } = await organisation.do('bot', 'GET', 'attachments');
      expect(attachments).toEqual([]);
      const { id } = await organisation.server.server.database.db
        .selectFrom('attachments')
        .select('id')
        .where('owner_id', '=', organisation.id('bot'))
        .executeTakeFirstOrThrow();
      expect((await organisation.ask('bot', 'DELETE', `attachments/${id}`)).status).toBe(400);
      expect((await load(url.replace('user_avatars', 'user_uploads'))).statusCode).not.toBe(200);
      const { headers, payload, statusCode } = await organisation.server.server.app.inject({
        method: 'HEAD',
        url,
      });
      const { headers: told, statusCode: loaded } = await load(url);
      expect([loaded, statusCode, payload]).toEqual([200, 200, '']);
      expect(headers['content-length']).toBe(told['content-length']);
    });

    it('is not served under an unknown URL, and its URL prefix serves no uploaded files', async () => {
      const { headers, payload } = fileForm(gif);
      const { authorization } = organisation.accounts.member;
      const { body } = await organisation.server.send({
        method: 'POST',
        url: '/api/v1/user_uploads',
        headers: { ...headers, authorization },
        payload,
      });
      const asAvatar = String(body.url).replace('user_uploads', 'user_avatars');
      for (const url of ['/user_avatars/1/00/nothing/avatar.png', asAvatar]) {
        expect((await load(url)).statusCode).toBe(404);
      }
    });
  });

  describe('uploading an avatar', () => {
    it.each([
      ['an HTML page', { content: '<script>alert(1)</script>' }],
      ['an SVG', { type: 'image/svg+xml', content: '<svg xmlns="http://www.w3.org/2000/svg"/>' }],
      ['sound in a WebP container', { content: 'RIFF0000WAVEfmt ' }],
      ['an empty file', { content: '' }],
    ])('refuses %s and keeps the previous avatar', async (_what, file) => {
      const url = await give('owner');
      const { status, body } = await sendPicture(organisation, 'owner', { ...png, ...file });
      expect([status, body.code, body.msg]).toEqual([
        400,
        'BAD_IMAGE',
        'The picture must be a PNG, JPEG, GIF or WebP',
      ]);
      expect((await shown('owner')).avatar_url).toBe(url);
    });

    it('refuses a file of more than 5 MiB and keeps the previous avatar', async () => {
      const url = await give('owner');
      const content = png.content + 'x'.repeat(5 * 1024 * 1024);
      const { status, body } = await sendPicture(organisation, 'owner', { ...png, content });
      expect([status, body.msg]).toEqual([
        400,
        'The file is larger than 5 MiB, which is the maximum on this server',
      ]);
      expect((await shown('owner')).avatar_url).toBe(url);
    });

    it('refuses a form without a file and a form with several files', async () => {
      const before = await give('owner');
      const { authorization } = organisation.accounts.owner;
      const url = '/api/v1/users/me/avatar';
      const none = await organisation.server.send({ method: 'POST', url, headers: { authorization } });
      expect([none.status, none.body.code]).toEqual([400, 'BAD_REQUEST']);
      const { status, body } = await sendPicture(organisation, 'owner', png, png);
      expect([status, body.msg]).toEqual([400, 'You may only send one file at a time']);
      expect((await shown('owner')).avatar_url).toBe(before);
    });
  });

  describe('an organization with a small upload quota', () => {
    const small = sharedOrganisation(backend, { uploads: { quotaBytes: 100 } });
    it('counts current avatars toward the quota, but not replaced avatars', async () => {
      for (let round = 0; round < 4; round++) {
        const { status } = await sendPicture(small, 'member', {
          ...png,
          content: png.content + 'x'.repeat(30),
        });
        expect(status).toBe(200);
      }
      const { status, body } = await sendPicture(small, 'second', {
        ...png,
        content: png.content + 'x'.repeat(60),
      });
      expect([status, body.code]).toEqual([400, 'REALM_UPLOAD_QUOTA']);
      expect(await small.do('member', 'GET', 'attachments')).toMatchObject({
        upload_space_used: png.content.length + 30,
      });
    });
  });
});
