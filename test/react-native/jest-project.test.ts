import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installClient } from './install-client.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** An app's own tests: one registers with a server that the app has made up, the other imports the smaller entry point. */
const ownTest = `
const { createMemoryPushAccountStore, createMemorySeenNotifications, createPushClient } = require('@waxwing/client');
const { createOpener } = require('@waxwing/client/open');

test('registers', async () => {
  global.fetch = jest.fn(async () => { throw new TypeError('offline'); });
  const phone = await createPushClient({
    bouncerPublicKey: '${Buffer.alloc(32, 9).toString('base64')}',
    pushToken: () => ({ tokenKind: 'fcm', token: 'token' }),
    accounts: createMemoryPushAccountStore(),
    seen: createMemorySeenNotifications(),
  });
  const account = { realmUrl: 'https://chat.example.com', userId: 10, email: 'ada@example.com', apiKey: 'key' };
  const { code } = await phone.registrar(account).sync();
  expect(code).toBe('unreachable');
  expect(global.fetch).toHaveBeenCalled();
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
`;

describe('In a project with Jest', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'waxwing-jest-'));
    await writeFile(join(project, 'package.json'), '{ "name": "an-app", "private": true }');
    const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', [...install, 'jest@30.5.2'], { cwd: project });
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

  it('one line lets tests import the client, which takes their fetch', async () => {
    const setupFiles = ['@waxwing/client/jest-setup'];
    expect(await jest({ setupFiles })).toEqual({ success: true, numPassedTests: 2, message: '' });
    // React Native's presets add these conditions. They must not select the client's build for phones (native code).
    const testEnvironmentOptions = { customExportConditions: ['require', 'react-native'] };
    const onReactNative = await jest({ setupFiles, testEnvironmentOptions });
    expect(onReactNative).toEqual({ success: true, numPassedTests: 2, message: '' });
  });
});
