import { Secret } from '@waxwing/service/config';
import { expect } from 'vitest';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { maximumSignInKeys } from '#server/platform/authentication/sign-in-key-store.js';
import { request } from '../../packages/service/http/listening-app.js';
import { type Answer, ask, form, question } from './ask.js';
import { askInCrowd, type CrowdRequest } from './ask-in-crowd.js';
import { answered, type Limit, refusals } from './limit.js';
import { proxyAddress, type ServerUnderLimits } from './server-under-limits.js';

type ServerLimit = Limit<ServerUnderLimits>;

const path = '/api/v1/fetch_api_key';
const refused = answered(`POST ${path}`, 429);
const password = 'correct horse battery';
const halfHour = 30 * 60_000;
const strangersAddress = '127.0.0.3';

/** Signs in from this forwarded client address. */
function signIn({ url }: ServerUnderLimits, username: string, address: string): Promise<Answer> {
  const { headers, ...asked } = form(url + path, '', { username, password });
  return ask({
    ...asked,
    headers: { ...headers, 'x-forwarded-for': address },
    localAddress: proxyAddress,
  });
}

/** A request for an unknown invitation link from this forwarded client address. */
function wrongInvitation(address: string): CrowdRequest {
  return { path: `/join/${'x'.repeat(30)}/`, headers: `x-forwarded-for: ${address}\r\n` };
}

/** Limits on sign-in attempts and on API keys. */
export const signInLimits: readonly ServerLimit[] = [
  {
    id: 'body-bytes-of-unauthenticated',
    metric: refusals('body-bytes'),
    answer: [503, 'SERVICE_UNAVAILABLE', '1'],
    async provoke(server, door) {
      const [atOnce, bytes] = [64, 64 * 1024];
      const half = request(`POST ${path}`, `content-length: ${bytes}\r\n`, 'username=');
      for (let sent = 0; sent < atOnce; sent++) (await door.connect(strangersAddress)).send(half);
      await expect.poll(async () => (await door.counts()).bytes).toBe(atOnce * bytes);
      const asked = form(server.url + path, '', { username: 'nobody@example.com', password });
      return ask({ ...asked, localAddress: strangersAddress });
    },
  },
  {
    id: 'server-sign-in-tries',
    metric: refused,
    answer: [429, 'RATE_LIMIT_HIT', '1800'],
    async provoke(server) {
      const name = `nobody-${server.greedy.email}`;
      for (let count = 0; count < 5; count++) {
        expect(await signIn(server, name, '203.0.113.1')).toMatchObject({ status: 401 });
      }
      return signIn(server, name, '203.0.113.2');
    },
    async end(server) {
      server.test.now += halfHour;
      const again = await signIn(server, `nobody-${server.greedy.email}`, '203.0.113.1');
      expect(again.body?.code).toBe('AUTHENTICATION_FAILED');
    },
  },
  {
    id: 'server-sign-ins-per-address',
    metric: refused,
    answer: [429, 'RATE_LIMIT_HIT', '1800'],
    async provoke(server) {
      const headers = { 'x-forwarded-for': '2001:db8:7::1', connection: 'close' };
      for (let count = 0; count < 100; count++) {
        expect((await fetch(`${server.url}/join/${'x'.repeat(30)}${count}/`, { headers })).status).toBe(404);
      }
      return signIn(server, `one-${server.greedy.email}`, '2001:db8:7::ffff');
    },
    async end(server) {
      server.test.now += halfHour;
      const again = await signIn(server, `two-${server.greedy.email}`, '2001:db8:7::1');
      expect(again.body?.code).toBe('AUTHENTICATION_FAILED');
    },
  },
  {
    id: 'server-sign-in-addresses',
    metric: answered(`POST ${path}`, 200),
    answer: [200],
    async provoke(server, door) {
      const { email } = server.greedy;
      const address = '2001:db8:8::1';
      await setPassword(server.test.server.database, Date.now, email, async () => new Secret(password));
      await askInCrowd(door, Array(100).fill(wrongInvitation(address)), 404);
      expect(await signIn(server, email, address)).toMatchObject({ status: 429 });
      const others = Array.from({ length: 10_000 }, (_, index) => `2001:db8:9:${index.toString(16)}::1`);
      await askInCrowd(door, others.slice(1).map(wrongInvitation), 404);
      // The server still remembers the address. One more entry would evict it.
      expect(await signIn(server, email, address)).toMatchObject({ status: 429 });
      await askInCrowd(door, others.slice(0, 1).map(wrongInvitation), 404);
      return signIn(server, email, address);
    },
    async end(server) {
      server.test.now += halfHour;
    },
  },
  {
    id: 'server-passwords-at-once',
    metric: answered(`POST ${path}`, 200),
    answer: [200],
    async provoke(server) {
      const { email } = server.greedy;
      await setPassword(server.test.server.database, Date.now, email, async () => new Secret(password));
      let answeredOthers = 0;
      // Two of these sign-ins are being checked, and four are queued.
      const others = Array.from({ length: 6 }, async (_, index) => {
        const { status } = await signIn(server, `${index}-${email}`, '203.0.113.11');
        answeredOthers += 1;
        return status;
      });
      const answer = await signIn(server, email, '203.0.113.12');
      expect(answeredOthers).toBeLessThan(others.length);
      expect(await Promise.all(others)).toEqual(others.map(() => 401));
      return answer;
    },
    async end(server) {
      server.test.now += halfHour;
    },
  },
  {
    id: 'server-passwords-waiting',
    metric: refused,
    answer: [429, 'RATE_LIMIT_HIT', '2'],
    async provoke(server) {
      const all = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          signIn(server, `${index}-${server.greedy.email}`, '203.0.113.9'),
        ),
      );
      expect(all.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(6);
      return all.find(({ status }) => status === 429) ?? { status: 0 };
    },
  },
  {
    id: 'server-sign-in-keys',
    metric: answered('GET /api/v1/users/me', 401),
    answer: [401, 'INVALID_API_KEY'],
    async provoke(server) {
      const { email, userId } = server.greedy;
      const { database } = server.test.server;
      await setPassword(database, Date.now, email, async () => new Secret(password));
      const newKey = async () => {
        const { body } = await signIn(server, email, '203.0.113.10');
        return `Basic ${Buffer.from(`${email}:${body?.api_key}`).toString('base64')}`;
      };
      const look = (authorization: string) => ask(question(`${server.url}/api/v1/users/me`, authorization));
      const oldest = await newKey();
      const rows = Array.from({ length: maximumSignInKeys - 1 }, (_, index) => ({
        user_id: userId,
        key_hash: `${index} of ${email}`,
        created_at: server.test.now,
      }));
      await database.write(({ db }) => db.insertInto('sign_in_keys').values(rows).execute());
      expect(await look(oldest)).toMatchObject({ status: 200 });
      expect(await look(await newKey())).toMatchObject({ status: 200 });
      return look(oldest);
    },
  },
];
