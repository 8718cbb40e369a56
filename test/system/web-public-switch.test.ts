import { type JsonObject, parseJson } from '@waxwing/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import type { SpawnedProcess } from '../support/spawned-process.js';
import { eachBackend } from '../support/test-databases.js';

const testMilliseconds = 180_000;
/** A word in the channel's name and in each text in the channel. */
const word = 'zaunkoenig';
const on = { SERVER_WEB_PUBLIC_CHANNELS: 'on' };
const filePath = '{realm_id}/{folder}/{random}/{file_name}';
/** All API requests that a client without an account may make only while public access is on. */
const shown = [
  'GET /api/v1/messages',
  'GET /api/v1/messages/{message_id}',
  `GET /api/v1/user_uploads/${filePath}`,
  'GET /api/v1/users',
  `GET /user_uploads/${filePath}`,
  'POST /api/v1/register',
];
/** API requests that a client without an account may always make. */
const alwaysOpen = ['GET /api/v1/emoji_data', 'GET /api/v1/server_settings'];
const webPublic = {
  narrow: JSON.stringify([{ operator: 'channels', operand: 'web-public' }]),
  anchor: 'newest',
  num_before: '10',
  num_after: '0',
};

eachBackend((backend) => {
  let world: Constellation;
  let server: SpawnedProcess;
  let owner: ConstellationUser;
  /** Values of path parameters, which refer to a message with a file in a web-public channel. */
  let values: Readonly<Record<string, string>>;
  let file = '';

  beforeAll(async () => {
    world = await Constellation.create({ server: { SERVER_DATABASE: await backend.freshUrl() } });
    owner = await world.addUser('owner', ['--role', 'owner']);
    server = await world.startServer(on);
    await askAsOwner('PATCH', 'realm', { enable_spectator_access: 'true' });
    const name = `${word} channel`;
    await askAsOwner('POST', 'users/me/subscriptions', {
      subscriptions: JSON.stringify([{ name }]),
      is_web_public: 'true',
    });
    const { stream_id: channelId } = await askAsOwner('GET', 'get_stream_id', { stream: name });
    file = await upload();
    const content = `${word} [file](${file})`;
    const to = String(channelId);
    const sent = await askAsOwner('POST', 'messages', { type: 'channel', to, topic: word, content });
    await askAsOwner('PATCH', `messages/${sent.id}`, { content: `edited ${content}` });
    const [, , realm_id = '', folder = '', random = '', file_name = ''] = file.split('/');
    values = { message_id: String(sent.id), stream_id: to, realm_id, folder, random, file_name };
  }, testMilliseconds);
  afterAll(() => world?.close());

  async function askAsOwner(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    fields: Record<string, string>,
  ): Promise<JsonObject> {
    const { status, text } = await world.request(owner, method, path, fields);
    if (status !== 200) throw new Error(`${method} ${path} was answered ${status}: ${text}`);
    return parseJson(text) as JsonObject;
  }

  async function upload(): Promise<string> {
    const body = new FormData();
    body.append('file', new Blob([`${word} file`], { type: 'text/plain' }), 'file.txt');
    const headers = { authorization: `Basic ${btoa(`${owner.email}:${owner.api_key}`)}` };
    const answer = await fetch(`${world.serverUrl}/api/v1/user_uploads`, { method: 'POST', headers, body });
    return String(((await answer.json()) as { url: string }).url);
  }

  async function restart(env: Record<string, string> = {}): Promise<void> {
    await server.end();
    server = await world.startServer(env);
  }

  const askAnonymously = (url: string, init: RequestInit = {}) => fetch(world.serverUrl + url, init);
  const statusOf = async (url: string, init?: RequestInit) => (await askAnonymously(url, init)).status;

  /** Sends every read request of the API without an account. Returns the successful requests, in order. */
  async function succeedingRequests(): Promise<string[]> {
    const document = await (await askAnonymously('/api/openapi.json')).json();
    const { paths } = document as { paths: Record<string, object> };
    const succeeding: string[] = [];
    for (const [path, operations] of Object.entries(paths)) {
      const method = path === '/api/v1/register' ? 'POST' : 'GET';
      if (!Object.hasOwn(operations, method.toLowerCase())) continue;
      const url = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '1');
      const query = path === '/api/v1/messages' ? `?${new URLSearchParams(webPublic)}` : '';
      if ((await statusOf(url + query, { method })) === 200) succeeding.push(`${method} ${path}`);
    }
    return succeeding.sort();
  }

  /**
   * Tries all other ways to get the same content: by ids, in part, with a validator, and at a temporary URL. Returns
   * the status of each.
   */
  async function otherWays(temporaryUrl: string, etag: string): Promise<number[]> {
    const { narrow } = webPublic;
    const byIds = new URLSearchParams({ narrow, message_ids: JSON.stringify([Number(values.message_id)]) });
    return [
      await statusOf(`/api/v1/messages?${byIds}`),
      await statusOf(file, { method: 'HEAD' }),
      await statusOf(file, { headers: { range: 'bytes=0-1' } }),
      await statusOf('/api/v1/users', { headers: { 'if-none-match': etag } }),
      await statusOf(temporaryUrl),
    ];
  }

  it(
    'turning public access off by a restart hides all content from clients without an account, even at known URLs',
    async () => {
      expect(await succeedingRequests()).toEqual([...alwaysOpen, ...shown].sort());
      const messages = await askAnonymously(`/api/v1/messages?${new URLSearchParams(webPublic)}`);
      expect(await messages.text()).toContain(word);
      const etag = (await askAnonymously('/api/v1/users')).headers.get('etag') ?? '';
      const address = await askAnonymously(`/api/v1${file}`);
      const { url: temporaryUrl } = (await address.json()) as { url: string };
      expect(await otherWays(temporaryUrl, etag)).toEqual([200, 200, 206, 304, 200]);

      await restart();
      expect(await otherWays(temporaryUrl, etag)).toEqual([401, 401, 401, 401, 404]);
      // The temporary URL has not expired, so the refusal is due to the setting.
      expect(Date.now()).toBeLessThan(Number(/\/\d+-\d+-(\d+)-/.exec(temporaryUrl)?.[1]));
      expect(await succeedingRequests()).toEqual(alwaysOpen);
      expect(await (await askAnonymously('/api/v1/server_settings')).json()).toMatchObject({
        realm_web_public_access_enabled: false,
      });

      await restart(on);
      expect(await succeedingRequests()).toEqual([...alwaysOpen, ...shown].sort());
    },
    testMilliseconds,
  );
});
