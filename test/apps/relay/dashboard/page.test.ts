import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRelayEnvironment } from '@waxwing/relay';
import { ConfigurationError } from '@waxwing/service/config';
import { listen } from '@waxwing/service/http';
import { expect, it } from 'vitest';
import { pageHeaders } from '../../../support/dashboard-requests.js';
import { sqliteBackend } from '../../../support/test-databases.js';
import { startRelayUnderTest } from '../relay-under-test.js';
import { adminToken, startDashboard } from './dashboard-under-test.js';

const databases = sqliteBackend();

it('the relay serves only the page and its files, with a strict content security policy', async () => {
  const dashboard = await startDashboard(await databases.freshUrl());
  try {
    const { ask } = dashboard;
    const redirect = await ask('GET', '/admin');
    expect([redirect.statusCode, redirect.headers.location]).toEqual([308, '/admin/']);
    const page = await ask('GET', '/admin/');
    expect(page.body).toBe('<!doctype html><title>Relay</title>');
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const script = await ask('GET', '/admin/assets/index-1a2b.js');
    expect(script.body).toBe('export {};');
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    for (const path of ['assets/other.js', 'assets/..%2F..%2Ftoken', '..%2Ftoken', 'token', 'assets/']) {
      expect((await ask('GET', `/admin/${path}`)).statusCode, path).toBe(404);
    }
  } finally {
    await dashboard.close();
  }
});

it('the relay explains that the page is not built', async () => {
  const dashboard = await startDashboard(await databases.freshUrl());
  const folder = dashboard.pageFolder;
  await dashboard.relay.close();
  rmSync(folder, { recursive: true });
  const settings = { RELAY_ADMIN_TOKEN_FILE: dashboard.tokenFile };
  const relay = await startRelayUnderTest(await databases.freshUrl(), settings, { pageFolder: folder });
  try {
    const answer = await relay.app.inject({ method: 'GET', url: '/admin/' });
    expect([answer.statusCode, answer.body]).toEqual([503, expect.stringContaining('is not built: run')]);
  } finally {
    await relay.close();
    rmSync(join(folder, '..'), { recursive: true });
  }
});

it('the dashboard on the metrics port rejects requests from other sites', async () => {
  const dashboard = await startDashboard(await databases.freshUrl(), {
    RELAY_METRICS_PORT: '0',
    RELAY_ADMIN_ON: 'metrics',
  });
  const { relay } = dashboard.relay;
  const ports = { host: '127.0.0.1', port: 0 };
  const listening = await listen(relay, {
    ...ports,
    metrics: { kind: 'configured', ...ports },
    drainMilliseconds: 0,
  });
  try {
    expect((await fetch(`${listening.url}/admin/`)).status).toBe(404);
    const url = String(listening.metricsUrl).replace('/metrics', '/admin/');
    expect(await (await fetch(url)).text()).toContain('<title>Relay</title>');
    const signIn = (token: string, headers: Record<string, string>) =>
      fetch(`${url}api/session`, { method: 'POST', headers, body: JSON.stringify({ token }) });
    const signedIn = await signIn(adminToken, pageHeaders);
    expect(signedIn.status).toBe(204);
    const [cookie = ''] = String(signedIn.headers.get('set-cookie')).split(';', 1);
    expect((await fetch(`${url}api/session`, { headers: { cookie } })).status).toBe(200);
    expect((await signIn(adminToken, { ...pageHeaders, origin: 'http://evil.example' })).status).toBe(403);
    const own = { 'content-type': 'application/json', origin: new URL(url).origin };
    expect((await signIn(adminToken, own)).status).toBe(204);
    expect((await fetch(`${url}unknown`)).status).toBe(404);
    expect((await fetch(String(listening.metricsUrl))).status).toBe(200);
  } finally {
    await listening.close();
    await dashboard.close();
  }
});

it('the relay reports invalid dashboard settings at startup', async () => {
  const problems = (settings: Record<string, string>) => {
    try {
      readRelayEnvironment({ RELAY_KEY_RING_IDENTITY_FILE: 'i', ...settings });
      return [];
    } catch (error) {
      if (error instanceof ConfigurationError) return error.problems;
      throw error;
    }
  };
  expect(problems({ RELAY_ADMIN_ON: 'main' })).toEqual([
    'RELAY_ADMIN_ON says where the dashboard is, but RELAY_ADMIN_TOKEN_FILE is not set: set both or neither.',
  ]);
  expect(problems({ RELAY_ADMIN_TOKEN_FILE: 't', RELAY_ADMIN_ON: 'metrics' })).toEqual([
    'RELAY_ADMIN_ON is "metrics", but RELAY_METRICS_PORT is not set: set it too.',
  ]);
  const { dashboard } = readRelayEnvironment({
    RELAY_KEY_RING_IDENTITY_FILE: 'i',
    RELAY_ADMIN_TOKEN_FILE: 't',
    RELAY_METRICS_PORT: '0',
  });
  expect(dashboard).toEqual({ kind: 'on', tokenFile: 't', port: 'metrics' });
  const good = await startDashboard(await databases.freshUrl());
  await good.relay.close();
  const start = async () =>
    startRelayUnderTest(await databases.freshUrl(), { RELAY_ADMIN_TOKEN_FILE: good.tokenFile });
  writeFileSync(good.tokenFile, 'x'.repeat(23));
  await expect(start()).rejects.toThrow('is too short: write at least 24 random characters');
  rmSync(good.tokenFile);
  await expect(start()).rejects.toThrow('the admin token of the dashboard) cannot be read');
  rmSync(join(good.tokenFile, '..'), { recursive: true });
});
