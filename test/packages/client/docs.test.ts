import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readStream } from 'node:stream/consumers';
import { runInNewContext } from 'node:vm';
import { type Fetch, ignoredReasons, type PushToken, statusSentences } from '@waxwing/client';
import { build, createServer } from 'vite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startPush } from '../../../docs/examples/push-in-an-app.js';
import { FakeChatServer } from './fake-chat-server.js';
import { bouncerKey, keyListAnswer, signer } from './key-list-maker.js';
import { createPhone } from './phone.js';

const root = join(import.meta.dirname, '../../..');
const docs = new URL('../../../docs/', import.meta.url);
const page = readFileSync(new URL('client.md', docs), 'utf8');

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Returns the codes in the first column of the tables below a heading. */
function codesBelow(heading: string): string[] {
  const section = page.split(/^##+ /m).find((text) => text.startsWith(heading)) ?? '';
  return [...section.matchAll(/^\| `([a-z-]+)` +\|/gm)].map((row) => row[1] ?? '');
}

describe('The page for app developers', () => {
  it('shows exactly the example that this test runs', () => {
    const example = readFileSync(new URL('examples/push-in-an-app.ts', docs), 'utf8');
    const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map((block) => block[1]);
    expect(blocks).toEqual([example]);
  });

  it('explains exactly the existing statuses and reasons', () => {
    expect(codesBelow('What the status says').toSorted()).toEqual(Object.keys(statusSentences).toSorted());
    expect(codesBelow('Opening notifications').toSorted()).toEqual(Object.keys(ignoredReasons).toSorted());
  });
});

it('the examples for app developers type-check in strict mode without Node’s types', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-examples-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const files = [readme, page].map((text, index) => {
    const file = `example-${index}.ts`;
    writeFileSync(join(folder, file), /^```ts\n(.*?)^```$/ms.exec(text)?.[1] ?? '');
    return file;
  });
  const compilerOptions = {
    target: 'ES2023',
    lib: ['ES2023', 'DOM'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'Preserve',
    moduleResolution: 'Bundler',
    customConditions: ['@waxwing/source'],
    noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const run = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
  expect([run.status, run.stdout]).toEqual([0, '']);
  rmSync(folder, { recursive: true });
});

it('the Vite settings let a page register as a phone at the page’s own address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-vite-'));
  const behind = new FakeChatServer();
  behind.now = Date.now();
  const bouncerPublicKey = behind.addBouncerKey(1);
  const server = createHttpServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = method === 'GET' ? {} : { body: await readStream(request) };
    const { authorization = '' } = headers;
    const answer = await behind.fetch(`http://chat${url}`, { method, headers: { authorization }, ...body });
    response.writeHead(answer.status).end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  behind.realmUrl = serverUrl;
  const [config = '', wrapper = ''] = [...page.matchAll(/run by a test: vite -->\n```js\n(.*?)^```$/gms)].map(
    ([, code = '']) => code.replaceAll('http://127.0.0.1:8310', serverUrl),
  );
  const configFile = join(folder, 'vite.config.mjs');
  writeFileSync(configFile, config);
  const vite = await createServer({ configFile, root: folder, logLevel: 'silent', server: { port: 0 } });
  await vite.listen();
  const pageUrl = vite.resolvedUrls?.local[0] ?? '';
  // Resolves addresses relative to the page, as a browser does.
  const fetched: string[] = [];
  const fetchOfPage: Fetch = (path, init) => {
    const { origin, href } = new URL(path, pageUrl);
    fetched.push(origin);
    return fetch(href, init);
  };
  const { realmUrl, throughVite } = new Function('fetch', `${wrapper}; return { realmUrl, throughVite };`)(
    fetchOfPage,
  ) as { realmUrl: string; throughVite: Fetch };
  const { client } = await createPhone({
    bouncerPublicKey,
    clock: () => behind.now,
    fetch: (url, init) => throughVite(url, init),
  });
  const { userId, email, apiKey } = behind;
  const status = await client.registrar({ realmUrl, userId, email, apiKey }).sync();
  expect(status).toMatchObject({ code: 'active' });
  expect(new Set(fetched)).toEqual(new Set([new URL(pageUrl).origin]));
  await vite.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

it('the Vite configuration bundles the service worker into one file without imports', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-worker-'));
  for (const [, name = '', code = ''] of page.matchAll(
    /run by a test: worker -->\n```js\n\/\/ (\S+)\n(.*?)^```$/gms,
  ))
    writeFileSync(join(folder, name), code);
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'));
  await build({
    configFile: join(folder, 'vite.worker.config.js'),
    root: folder,
    logLevel: 'silent',
    resolve: { conditions: ['@waxwing/source', 'browser'] },
  });
  expect(readdirSync(join(folder, 'public'))).toEqual(['worker.js']);
  const worker = readFileSync(join(folder, 'public/worker.js'), 'utf8');
  const listeners: string[] = [];
  // Runs the worker as a classic script, where module syntax would not compile.
  runInNewContext(worker, { addEventListener: (type: string) => void listeners.push(type) });
  expect(listeners).toEqual(['push', 'notificationclick', 'pushsubscriptionchange']);
  rmSync(folder, { recursive: true });
});

describe('The example for app developers', () => {
  it('registers, shows a message once, and deletes everything at sign-out', async () => {
    const server = new FakeChatServer();
    server.now = Date.now();
    server.addBouncerKey(2);
    const relaySigner = signer(100);
    const plan = { issuedAt: Math.floor(server.now / 1000), primary: bouncerKey(2), signer: relaySigner };
    server.keyList = keyListAnswer(plan);
    vi.stubGlobal('fetch', server.fetch);

    const texts = new Map<string, string>();
    const shown: string[] = [];
    const logged: string[] = [];
    const { url: realmUrl, userId, email, apiKey } = server;
    const push = await startPush(
      {
        signIn: { realmUrl, userId, email, apiKey },
        storage: {
          getItem: (name) => texts.get(name) ?? null,
          setItem: (name, text) => void texts.set(name, text),
          removeItem: (name) => void texts.delete(name),
        },
        pushToken: async (): Promise<PushToken> => ({ tokenKind: 'fcm', token: 'token' }),
        showStatus: (sentence) => shown.push(sentence),
        log: (line) => logged.push(line),
        showNotification: (title, text) => shown.push(`${title}: ${text}`),
      },
      {
        bouncerPublicKey: bouncerKey(1),
        signingPublicKey: relaySigner.publicKey,
        recoveryPublicKey: signer(99).publicKey,
      },
    );

    await push.bringUpToDate();
    expect(logged).toEqual(['{"code":"active"}']);
    const message = {
      type: 'message',
      realm_url: realmUrl,
      user_id: userId,
      message_id: 45,
      time: 1773200000,
      content: 'Lunch?',
      sender_id: 6,
      sender_full_name: 'Iago',
      sender_avatar_url: `${realmUrl}/avatar/6`,
    };
    expect(await push.receive(server.pushTo(message))).toBe('message');
    expect(await push.receive(JSON.stringify(server.pushTo(message)))).toBe('repeat');
    expect(shown).toEqual(['Notifications are on for this phone.', 'Iago: Lunch?']);
    await push.signOut();
    expect(await push.receive(server.pushTo({ ...message, message_id: 46 }))).toBe('unknown-account');
  });
});
