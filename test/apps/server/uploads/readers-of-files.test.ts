import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel, subscribe } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import type { Answer } from '../server-under-test.js';
import { picture, upload } from './send-file.js';
import { type Sender, sendMessage, toChannel } from './send-message.js';

const nothing = { code: 'NOT_FOUND', msg: 'There is no such file' };

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: true });
  const { accounts } = organisation;

  async function fetchFile(who: Sender | undefined, path: string): Promise<{ status: number; text: string }> {
    const headers = who === undefined ? {} : { authorization: accounts[who].authorization };
    const url = `/user_uploads/${path}`;
    const answer = await organisation.server.server.app.inject({ method: 'GET', url, headers });
    return { status: answer.statusCode, text: answer.payload };
  }

  async function readersOf(path: string): Promise<Sender[]> {
    const all: Sender[] = ['owner', 'member', 'second', 'guest'];
    const readers: Sender[] = [];
    for (const who of all) {
      const { status, text } = await fetchFile(who, path);
      if (status === 200 && text === picture.content) readers.push(who);
      else expect([status, JSON.parse(text)]).toMatchObject([404, nothing]);
    }
    return readers;
  }

  async function newFile(): Promise<{ path: string; text: string }> {
    const path = await upload(organisation, accounts.member);
    return { path, text: `[cat](/user_uploads/${path})` };
  }

  describe('a file', () => {
    it('can be read only by its owner while no message refers to it', async () => {
      const { path } = await newFile();
      expect(await readersOf(path)).toEqual(['member']);
    });

    it('can be read by users who can read the public channel that it was sent to', async () => {
      const { path, text } = await newFile();
      const { id } = await addChannel(organisation, { members: ['member'] });
      await sendMessage(organisation, 'member', toChannel(id), text);
      expect(await readersOf(path)).toEqual(['owner', 'member', 'second']);
      await subscribe(organisation, id, organisation.id('guest'));
      expect(await readersOf(path)).toEqual(['owner', 'member', 'second', 'guest']);
    });

    it('in a private channel with protected history can be read by users who were subscribed when it was sent', async () => {
      const { path, text } = await newFile();
      const { id } = await addChannel(organisation, { isPrivate: true, members: ['member', 'guest'] });
      await sendMessage(organisation, 'member', toChannel(id), text);
      await subscribe(organisation, id, organisation.id('second'));
      expect(await readersOf(path)).toEqual(['member', 'guest']);
      await subscribe(organisation, id, organisation.id('guest'), false);
      expect(await readersOf(path)).toEqual(['member']);
    });

    it('in a direct message can be read only by the participants, not even by other owners', async () => {
      const { path, text } = await newFile();
      const userIds = [organisation.id('member'), organisation.id('guest')];
      await sendMessage(organisation, 'member', { kind: 'direct', userIds }, text);
      expect(await readersOf(path)).toEqual(['member', 'guest']);
    });

    it('can be read without an account if it was sent to a web-public channel and public access is on', async () => {
      const { path, text } = await newFile();
      const hidden = await newFile();
      const { id } = await addChannel(organisation, { isWebPublic: true });
      const { id: otherId } = await addChannel(organisation);
      await sendMessage(organisation, 'member', toChannel(id), text);
      await sendMessage(organisation, 'member', toChannel(otherId), hidden.text);
      expect((await fetchFile(undefined, path)).status).toBe(401);
      await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true });
      expect(await fetchFile(undefined, path)).toEqual({ status: 200, text: picture.content });
      expect((await fetchFile(undefined, hidden.path)).status).toBe(404);
      await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: false });
    });

    it('cannot be read by a user who guesses its path and sends it, because only its readers can share it', async () => {
      const { path, text } = await newFile();
      const { id } = await addChannel(organisation, { members: ['guest', 'second'] });
      await sendMessage(organisation, 'second', toChannel(id), text);
      expect(await readersOf(path)).toEqual(['member']);
      const userIds = [organisation.id('member'), organisation.id('second')];
      await sendMessage(organisation, 'member', { kind: 'direct', userIds }, text);
      await sendMessage(organisation, 'second', toChannel(id), text);
      expect(await readersOf(path)).toEqual(['owner', 'member', 'second', 'guest']);
    });
  });

  it.each([
    '1/ab/xxxxxxxxxxxxxxxxxxxxxxxx/cat.png',
    '1/ab/..%2f..%2f..%2fserver.sqlite/cat.png',
    '..%2f..%2fserver.sqlite/a/b/c',
    '%2e%2e/%2e%2e/%2e%2e/server.sqlite',
    '2/ab/xxxxxxxxxxxxxxxxxxxxxxxx/%00.png',
  ])('the path %j leads to no file', async (path) => {
    expect([400, 404]).toContain((await fetchFile('member', path)).status);
  });

  describe('a temporary URL', () => {
    const addressOf = (who: Sender, path: string): Promise<Answer> =>
      organisation.ask(who, 'GET', `user_uploads/${path}`);

    async function open(url: string): Promise<{ status: number; text: string }> {
      const answer = await organisation.server.server.app.inject({ method: 'GET', url });
      return { status: answer.statusCode, text: answer.payload };
    }

    it('is given to readers of the file, and is valid for one minute', async () => {
      const { path } = await newFile();
      const { body } = await addressOf('member', path);
      expect(body.url).toMatch(/^\/user_uploads\/temporary\/[\w-]+\/cat\.png$/);
      expect(await open(String(body.url))).toEqual({ status: 200, text: picture.content });
      organisation.server.now += 59_999;
      expect(await open(String(body.url))).toMatchObject({ status: 200 });
      organisation.server.now += 1;
      expect(await open(String(body.url))).toMatchObject({ status: 404 });
    });

    it('is refused for other users', async () => {
      const { path } = await newFile();
      expect(await addressOf('owner', path)).toMatchObject({ status: 404, body: nothing });
    });

    it('is valid only while the user who requested it can read the file', async () => {
      const { path, text } = await newFile();
      const { id } = await addChannel(organisation, { isPrivate: true, members: ['member', 'second'] });
      await sendMessage(organisation, 'member', toChannel(id), text);
      const second = String((await addressOf('second', path)).body.url);
      const member = String((await addressOf('member', path)).body.url);
      expect(await open(second)).toMatchObject({ status: 200 });
      await subscribe(organisation, id, organisation.id('second'), false);
      expect(await open(second)).toMatchObject({ status: 404 });
      expect(await open(member)).toMatchObject({ status: 200 });
    });

    it('becomes invalid once the user who requested it is a guest outside the channel, or is deactivated', async () => {
      const { path, text } = await newFile();
      const { id } = await addChannel(organisation, { members: ['member'] });
      await sendMessage(organisation, 'member', toChannel(id), text);
      const { server } = organisation;
      const eve = await server.addAccount('eve@example.com');
      const ask = async () => String((await server.ask(eve, 'GET', `user_uploads/${path}`)).body.url);
      const setRole = (role: number) => organisation.do('owner', 'PATCH', `users/${eve.userId}`, { role });
      const first = await ask();
      await setRole(600);
      expect(await open(first)).toMatchObject({ status: 404 });
      await setRole(400);
      expect(await open(first)).toMatchObject({ status: 200 });
      await organisation.do('owner', 'DELETE', `users/${eve.userId}`);
      expect(await open(first)).toMatchObject({ status: 404 });
    });

    it('is valid for a client without an account while the channel and the organization are web-public', async () => {
      const { path, text } = await newFile();
      const { id } = await addChannel(organisation, { isWebPublic: true, members: ['member'] });
      await sendMessage(organisation, 'member', toChannel(id), text);
      const letSpectate = (isOpen: boolean) =>
        organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: isOpen });
      await letSpectate(true);
      const { body } = await organisation.server.ask(undefined, 'GET', `user_uploads/${path}`);
      const url = String(body.url);
      expect(await open(url)).toMatchObject({ status: 200 });
      await letSpectate(false);
      expect(await open(url)).toMatchObject({ status: 404 });
      await letSpectate(true);
      await organisation.do('owner', 'PATCH', `streams/${id}`, { is_web_public: false });
      expect(await open(url)).toMatchObject({ status: 404 });
      await letSpectate(false);
    });

    it('is invalid for any other file, reader, time or key', async () => {
      const { path } = await newFile();
      const url = String((await addressOf('member', path)).body.url);
      const [, token = ''] = /temporary\/([^/]+)\//.exec(url) ?? [];
      const [id = '', reader = '', until = '', signature = ''] = token.split('-');
      const forged = [
        `${Number(id) - 1}-${reader}-${until}-${signature}`,
        `${id}-${organisation.id('owner')}-${until}-${signature}`,
        `${id}-${reader}-${Number(until) + 1}-${signature}`,
        `${id}-${reader}-${until}-${'0'.repeat(64)}`,
        `${id}-${reader}-${until}-`,
        'x',
      ];
      for (const each of forged) {
        expect(await open(url.replace(token, each))).toMatchObject({ status: 404 });
      }
    });

    it('is invalid after the file is deleted', async () => {
      const { path } = await newFile();
      const url = String((await addressOf('member', path)).body.url);
      const { attachments } = await organisation.do('member', 'GET', 'attachments');
      const { id } = (attachments as { id: number }[]).at(-1) ?? {};
      await organisation.do('member', 'DELETE', `attachments/${id}`);
      expect(await open(url)).toMatchObject({ status: 404 });
    });
  });
});
