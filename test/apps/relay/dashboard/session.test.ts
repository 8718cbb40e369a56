import { chmodSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { cookieIn } from '../../../support/dashboard-requests.js';
import { eachBackend } from '../../../support/test-databases.js';
import { startRelayUnderTest } from '../relay-under-test.js';
import { adminToken, type DashboardUnderTest, startDashboard } from './dashboard-under-test.js';

const hour = 60 * 60 * 1000;

eachBackend((backend) => {
  let dashboard: DashboardUnderTest | undefined;
  const start = async (environment: Record<string, string> = {}) => {
    dashboard = await startDashboard(await backend.freshUrl(), environment);
    return dashboard;
  };
  afterEach(async () => {
    await dashboard?.close();
    dashboard = undefined;
  });

  it('returns the ordinary 404 while the dashboard is off', async () => {
    const relay = await startRelayUnderTest(await backend.freshUrl());
    try {
      const unknown = await relay.app.inject({ method: 'GET', url: '/no-such-path' });
      for (const url of [
        '/admin',
        '/admin/',
        '/admin/api/session',
        '/admin/api/keys',
        '/admin/assets/a.js',
      ]) {
        const answer = await relay.app.inject({ method: 'GET', url });
        expect([answer.statusCode, answer.body], url).toEqual([404, unknown.body]);
      }
    } finally {
      await relay.close();
    }
  });

  it('signs in with the token, shows when the session expires, and signs out', async () => {
    const { ask, relay, signIn } = await start();
    const signedIn = await signIn();
    expect([signedIn.statusCode, signedIn.body]).toEqual([204, '']);
    expect(signedIn.headers['set-cookie']).toMatch(
      /^waxwing_admin=[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=\/admin; Max-Age=28800$/,
    );
    const cookie = cookieIn(signedIn);
    const shown = await ask('GET', '/admin/api/session', { cookie });
    expect(shown.json()).toMatchObject({ expires_at: relay.time.now + 8 * hour });
    expect((await ask('DELETE', '/admin/api/session', { cookie })).statusCode).toBe(204);
    expect((await ask('GET', '/admin/api/session', { cookie })).json().expires_at).toBeNull();
    expect((await ask('GET', '/admin/api/keys', { cookie })).json().code).toBe('ADMIN_SESSION_REQUIRED');
    expect(relay.logged()).not.toContain(adminToken);
    expect(relay.logged()).not.toContain(cookie.split('=')[1]);
  });

  it('sets a Secure cookie only behind a proxy with TLS', async () => {
    const { ask } = await start();
    const isSecure = async (protocols: string) => {
      const headers = { 'x-forwarded-proto': protocols };
      const answer = await ask('POST', '/admin/api/session', { payload: { token: adminToken }, headers });
      return String(answer.headers['set-cookie']).endsWith('; Secure');
    };
    expect(await isSecure('https')).toBe(true);
    expect(await isSecure('HTTPS, http')).toBe(true);
    expect(await isSecure('http, https')).toBe(false);
  });

  it('refuses a wrong token without a browser password prompt, and limits the attempts per address', async () => {
    const { relay, signIn } = await start({ RELAY_TRUSTED_PROXIES: '127.0.0.1' });
    const wrong = await signIn(`${adminToken}x`);
    expect([wrong.statusCode, wrong.json().code]).toEqual([401, 'ADMIN_TOKEN_WRONG']);
    expect(wrong.headers).not.toHaveProperty('www-authenticate');
    expect(wrong.headers).not.toHaveProperty('set-cookie');
    for (let count = 1; count < 10; count++) await signIn('x');
    const limited = await signIn();
    expect([limited.statusCode, limited.json().code]).toEqual([429, 'RATE_LIMIT_HIT']);
    const seconds = Number(limited.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    relay.time.now += seconds * 1000;
    expect((await signIn()).statusCode).toBe(204);
  });

  it('limits wrong tokens, but never the right token, if the client address is unknown', async () => {
    const { relay, signIn } = await start();
    for (let count = 0; count < 10; count++) expect((await signIn('x')).statusCode).toBe(401);
    const attempts = relay
      .logged()
      .split('\n')
      .filter((line) => line.includes('a wrong admin token was sent'));
    expect(attempts).toHaveLength(10);
    // The log names the connection's address, so that guesses can be traced to the proxy.
    for (const line of attempts) expect(line).toContain('"address":"127.0.0.1"');
    const limited = await signIn('x');
    expect([limited.statusCode, limited.json().code]).toEqual([429, 'RATE_LIMIT_HIT']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    for (let count = 0; count < 11; count++) expect((await signIn()).statusCode).toBe(204);
  });

  it('refuses requests that another site could send', async () => {
    const { ask, session } = await start();
    const cookie = await session();
    const code = async (headers: Record<string, string | undefined>) => {
      const answer = await ask('POST', '/admin/api/session', { payload: { token: adminToken }, headers });
      return answer.statusCode === 204 ? 204 : [answer.statusCode, answer.json().code];
    };
    const foreign = [403, 'ADMIN_REQUEST_FOREIGN'];
    expect(await code({ 'sec-fetch-site': 'cross-site' })).toEqual(foreign);
    expect(await code({ 'sec-fetch-site': 'same-site' })).toEqual(foreign);
    expect(await code({ 'sec-fetch-site': undefined })).toEqual(foreign);
    expect(await code({ 'sec-fetch-site': undefined, origin: 'http://evil.example' })).toEqual(foreign);
    expect(await code({ 'sec-fetch-site': undefined, origin: 'null' })).toEqual(foreign);
    expect(await code({ 'content-type': 'text/plain' })).toEqual(foreign);
    expect(
      await code({ 'sec-fetch-site': undefined, origin: 'http://relay.example', host: 'relay.example' }),
    ).toBe(204);
    const headers = { 'sec-fetch-site': 'cross-site' };
    const signOut = await ask('DELETE', '/admin/api/session', { cookie, headers });
    expect(signOut.json().code).toBe('ADMIN_REQUEST_FOREIGN');
    expect((await ask('GET', '/admin/api/session', { cookie })).statusCode).toBe(200);
  });

  it('ends a session after eight hours, and the oldest session if there are more than sixteen', async () => {
    const { ask, relay, session } = await start();
    const status = async (cookie: string) => (await ask('GET', '/admin/api/keys', { cookie })).statusCode;
    const first = await session();
    relay.time.now += 8 * hour - 1;
    expect(await status(first)).toBe(200);
    relay.time.now += 1;
    expect(await status(first)).toBe(401);
    const cookies: string[] = [];
    for (let count = 0; count < 17; count++) {
      relay.time.now += 60_000;
      cookies.push(await session());
    }
    expect(await Promise.all(cookies.map(status))).toEqual([401, ...Array.from({ length: 16 }, () => 200)]);
  });

  it('ends all sessions when the token file changes or becomes unreadable', async () => {
    const { ask, relay, session, signIn, tokenFile } = await start();
    const status = async (cookie: string) => (await ask('GET', '/admin/api/keys', { cookie })).statusCode;
    const before = await session();
    const otherToken = `another ${adminToken}`;
    writeFileSync(tokenFile, otherToken);
    expect(await status(before)).toBe(401);
    expect((await signIn()).statusCode).toBe(401);
    const after = cookieIn(await signIn(otherToken));
    expect(await status(after)).toBe(200);
    chmodSync(tokenFile, 0o644);
    expect(await status(after)).toBe(401);
    const unusable = await signIn(otherToken);
    expect([unusable.statusCode, unusable.json().msg]).toEqual([
      503,
      'The file with the admin token cannot be used: see the log of this program',
    ]);
    const warnings = () => relay.logged().split('the admin token cannot be read').length - 1;
    for (let count = 0; count < 5; count++) await signIn();
    expect(warnings()).toBe(1);
    chmodSync(tokenFile, 0o600);
    expect((await signIn(otherToken)).statusCode).toBe(204);
    chmodSync(tokenFile, 0o644);
    await signIn();
    expect(warnings()).toBe(2);
  });

  it.each([
    ['no cookie', ''],
    ['a short cookie', 'waxwing_admin=ab'],
    ['an unknown cookie', `waxwing_admin=${'0'.repeat(64)}`],
  ])('requires a session: %s is refused', async (_name, cookie) => {
    const { ask } = await start();
    const answer = await ask('GET', '/admin/api/keys', { cookie });
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'ADMIN_SESSION_REQUIRED']);
    expect((await ask('GET', '/admin/api/session', { cookie })).json().expires_at).toBeNull();
  });

  it('refuses a malformed or very long token', async () => {
    const { ask } = await start();
    const sendings = [{ token: 'x'.repeat(1001) }, { token: 1 }, {}, []];
    for (const payload of sendings) {
      expect((await ask('POST', '/admin/api/session', { payload })).json().code).toBe('BAD_REQUEST');
    }
    const large = await ask('POST', '/admin/api/session', { payload: { token: 'x'.repeat(5000) } });
    expect(large.json().code).toBe('PAYLOAD_TOO_LARGE');
  });
});
