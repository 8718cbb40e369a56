import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installClient } from './install-client.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** Tests of an app, which register with a fake server and use the other entry points. */
const ownTest = `
const { createMemoryPushAccountStore, createMemorySeenNotifications, createPushClient } = require('@waxwing/client');
const { createOpener } = require('@waxwing/client/open');
const { describeNotification } = require('@waxwing/client/service-worker');

const realmUrl = 'https://chat.example.com';

async function registrar() {
  const phone = await createPushClient({
    bouncerPublicKey: '${Buffer.alloc(32, 9).toString('base64')}',
    pushToken: () => ({ tokenKind: 'fcm', token: 'token' }),
    accounts: createMemoryPushAccountStore(),
    seen: createMemorySeenNotifications(),
  });
  return phone.registrar({ realmUrl, userId: 10, email: 'ada@example.com', apiKey: 'key' });
}

test('registers', async () => {
  const state = { queue_id: 'q', last_event_id: -1, user_id: 10, realm_url: realmUrl, zulip_feature_level: 400, push_devices: {} };
  const answers = { '/api/v1/register': state };
  global.fetch = jest.fn(async (url) => ({
    status: 200,
    headers: { get: () => null },
    text: async () => JSON.stringify({ result: 'success', msg: '', ...answers[url.replace(realmUrl, '')] }),
  }));
  expect(await (await registrar()).sync({ settleTimeoutMilliseconds: 0 })).toMatchObject({ code: 'pending' });
  const sent = new Map(global.fetch.mock.calls.map(([url, { body }]) => [url.replace(realmUrl, ''), body]));
  expect(new URLSearchParams(sent.get('/api/v1/mobile_push/register')).get('encrypted_push_registration')).toBeTruthy();
});

test('is offline', async () => {
  global.fetch = jest.fn(async () => { throw new TypeError('offline'); });
  expect((await (await registrar()).sync()).code).toBe('unreachable');
});

test('opens', async () => {
  const texts = new Map();
  const open = createOpener({
    getItem: (name) => texts.get(name),
    setItem: (name, text) => void texts.set(name, text),
    removeItem: (name) => void texts.delete(name),
  });
  expect(await open({})).toMatchObject({ reason: 'not-encrypted-push' });
});

test('describes', () => {
  const notification = { type: 'test', realm_url: realmUrl, realm_name: 'Example', user_id: 10, time: 1 };
  expect(describeNotification(notification)).toMatchObject({ title: 'Example' });
});
`;

describe('In a project with Jest', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'waxwing-jest-'));
    await writeFile(join(project, 'package.json'), '{ "name": "an-app", "private": true }');
    const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', [...install, 'jest@30.5.2', 'jest-environment-jsdom@30.5.2'], { cwd: project });
    const modules = join(project, 'node_modules');
    await installClient(modules);
    for (const name of ['lossless-json', 'libsodium', 'libsodium-wrappers']) {
      await cp(join(root, 'node_modules', name), join(modules, name), { recursive: true });
    }
    await writeFile(join(project, 'push.test.js'), ownTest);
  }, 300_000);
  afterAll(async () => {
    await rm(project, { recursive: true, force: true });
  });

  async function jest(
    config: object,
  ): Promise<{ success: boolean; numPassedTests: number; message: string }> {
    const args = ['node_modules/jest/bin/jest.js', '--json', '--config', JSON.stringify(config)];
    const { stdout } = await run(process.execPath, args, { cwd: project }).catch((error) => error);
    const { success, numPassedTests, testResults } = JSON.parse(stdout);
    return { success, numPassedTests, message: testResults[0].message };
  }

  it('one line of configuration lets tests import the client, which uses the tests’ fetch', async () => {
    const setupFiles = ['@waxwing/client/jest-setup'];
    const passed = { success: true, numPassedTests: 4, message: '' };
    expect(await jest({ setupFiles })).toEqual(passed);
    // React Native's presets add these conditions. They must not select the client's build for phones (native code).
    const testEnvironmentOptions = { customExportConditions: ['require', 'react-native'] };
    expect(await jest({ setupFiles, testEnvironmentOptions })).toEqual(passed);
    // The same environment as in `jest-expo/web`.
    expect(await jest({ setupFiles, testEnvironment: 'jsdom' })).toEqual(passed);
  });
});
