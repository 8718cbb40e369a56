import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LightMyRequestResponse } from 'fastify';
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.js';

export const adminToken = 'the-token-of-the-operator-of-this-relay';

export type DashboardUnderTest = Awaited<ReturnType<typeof startDashboard>>;

interface Asked {
  readonly payload?: object | string;
  readonly cookie?: string | undefined;
  readonly headers?: Record<string, string | undefined>;
}

/** Headers of a request that the page itself sends. */
export const pageHeaders = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };

/** A relay whose main port serves the dashboard, with a page of two files. */
export async function startDashboard(databaseUrl: string, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${adminToken}\n`, { mode: 0o600 });
  const pageFolder = join(folder, 'page');
  mkdirSync(join(pageFolder, 'assets'), { recursive: true });
  writeFileSync(join(pageFolder, 'index.html'), '<!doctype html><title>Relay</title>');
  writeFileSync(join(pageFolder, 'assets', 'index-1a2b.js'), 'export {};');
  const settings = { RELAY_ADMIN_TOKEN_FILE: tokenFile, RELAY_ADMIN_ON: 'main', ...environment };
  const relay = await startRelayUnderTest(databaseUrl, settings, { pageFolder });
  return {
    relay,
    tokenFile,
    pageFolder,
    ...requestsTo(relay),
    async close() {
      await relay.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function requestsTo({ app }: RelayUnderTest) {
  const ask = (method: 'GET' | 'POST' | 'DELETE', url: string, { payload, cookie, headers }: Asked = {}) => {
    const own = method === 'GET' ? {} : pageHeaders;
    const all = Object.entries({ ...own, cookie, ...headers }).filter(([, value]) => value !== undefined);
    const body = payload ?? (method === 'GET' ? undefined : {});
    const request = { method, url, headers: Object.fromEntries(all) as Record<string, string> };
    return app.inject(body === undefined ? request : { ...request, payload: body });
  };
  const signIn = (token = adminToken) => ask('POST', '/admin/api/session', { payload: { token } });
  return {
    ask,
    signIn,
    /** Signs in and returns the cookie. */
    async session(): Promise<string> {
      return cookieIn(await signIn());
    },
  };
}

/** The cookie that an answer sets, without its attributes. */
export function cookieIn({ headers }: Pick<LightMyRequestResponse, 'headers'>): string {
  const [cookie = ''] = String(headers['set-cookie']).split(';', 1);
  return cookie;
}
