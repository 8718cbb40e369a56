import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { CDPSession, Page, Worker } from 'playwright-core';
import { expect, vi } from 'vitest';
import { FakeChatServer } from '../packages/client/fake-chat-server.js';
import { bundle, type OpenedPage, openPage } from './open-page.js';
import type { PushPage } from './push-page.js';

declare const pushPage: PushPage;

const fileOf = (name: string) => new URL(name, import.meta.url).pathname;
const subscription = {
  endpoint: 'https://push.example.com/a',
  keys: { p256dh: `BD${'aZ0-_b'.repeat(14)}k`, auth: 'k8JV6sjdbhAi1n3_LDBLvA' },
};

/** A browser with an app that has a service worker and a registered account. DevTools simulate the push service. */
export class PushBrowser {
  readonly server: FakeChatServer;
  readonly debug: CDPSession;
  readonly page: Page;
  readonly origin: string;
  /** The page's console messages and errors. */
  readonly problems: readonly string[];
  readonly #opened: OpenedPage;
  readonly #folder: string;
  #registrationId = '';
  #time = 1_773_200_000;
  #sealed = 0;

  static async start(featureLevel: number): Promise<PushBrowser> {
    const server = new FakeChatServer();
    server.now = Date.now();
    server.featureLevel = featureLevel;
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-worker-'));
    const worker = await bundle(fileOf('push-worker.ts'), join(folder, 'worker'));
    const opened = await openPage(fileOf('push-page.ts'), serveApp(server, worker));
    const debug = await opened.page.context().newCDPSession(opened.page);
    const browser = new PushBrowser(server, opened, debug, folder);
    await browser.#register();
    return browser;
  }

  private constructor(server: FakeChatServer, opened: OpenedPage, debug: CDPSession, folder: string) {
    this.server = server;
    this.debug = debug;
    this.#opened = opened;
    this.#folder = folder;
    this.page = opened.page;
    this.problems = opened.problems;
    this.origin = new URL(opened.page.url()).origin;
    server.realmUrl = this.origin;
  }

  async #register(): Promise<void> {
    const { server, origin, page, debug } = this;
    await page.context().grantPermissions(['notifications'], { origin });
    debug.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      this.#registrationId = registrations.at(-1)?.registrationId ?? this.#registrationId;
    });
    await debug.send('ServiceWorker.enable');
    const { email, apiKey } = server;
    const bouncerPublicKey = server.addBouncerKey(1);
    const options = { bouncerPublicKey, email, apiKey, subscription };
    expect(await page.evaluate((given) => pushPage.start(given), options)).toBe('active');
    await vi.waitFor(() => expect(this.#registrationId).not.toBe(''));
  }

  /** Encrypts a push as the relay sends it. Returns the JSON text that Web Push carries. */
  seal(notification: object): string {
    const { server, origin } = this;
    const whole = { realm_url: origin, user_id: 10, ...notification };
    this.#sealed += 1;
    if (server.featureLevel < 468) return JSON.stringify(server.pushTo(whole, (this.#sealed % 250) + 1));
    const [row] = [...server.clientDevices.rows.values()].slice(-1);
    if (row === undefined) throw new Error('No device has registered yet.');
    const nonce = new Uint8Array(24);
    new DataView(nonce.buffer).setUint32(0, this.#sealed);
    return JSON.stringify(server.clientDevices.sealFor(row, JSON.stringify(whole), nonce));
  }

  message(id: number, content: string, fields: object = {}): string {
    const sender = { sender_id: 6, sender_full_name: 'Iago', sender_avatar_url: '/avatar/6' };
    return this.seal({
      type: 'message',
      message_id: id,
      time: this.nextTime(),
      content,
      ...sender,
      ...fields,
    });
  }

  /** Returns a time in Unix seconds that is later than every time it returned before. */
  nextTime(): number {
    this.#time += 1;
    return this.#time;
  }

  /** Delivers pushes one after another. Resolves once the worker has handled all of them. */
  async deliver(...pushes: string[]): Promise<void> {
    const { page, debug, origin } = this;
    const handled = () => page.evaluate(() => pushPage.handled);
    const before = (await handled()).length;
    const to = { origin, registrationId: this.#registrationId };
    for (const data of pushes) await debug.send('ServiceWorker.deliverPushMessage', { ...to, data });
    await vi.waitFor(async () => expect(await handled()).toHaveLength(before + pushes.length), 20_000);
    expect((await handled()).slice(before)).toEqual(pushes.map(() => 'done'));
  }

  visible(): Promise<{ title: string; body: string }[]> {
    return this.page.evaluate(() => pushPage.visible());
  }

  /** Closes all notifications, as a user would. Waits until Chromium no longer lists them, which takes a while. */
  async clear(): Promise<void> {
    await this.page.evaluate(() => pushPage.clear());
    await vi.waitFor(async () => expect(await this.visible()).toEqual([]));
  }

  worker(): Worker {
    const found = this.page.context().serviceWorkers().at(-1);
    if (found === undefined) throw new Error('no service worker is running');
    return found;
  }

  async close(): Promise<void> {
    await this.#opened.close();
    rmSync(this.#folder, { recursive: true });
  }
}

function serveApp(server: FakeChatServer, worker: string) {
  const files = new Map([
    ['/app/worker.js', { type: 'text/javascript', content: worker }],
    ['/app/', { type: 'text/html', content: '<!doctype html><title>App</title>' }],
  ]);
  return async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const file = files.get(url.split('?')[0] ?? '');
    if (file !== undefined) {
      response.writeHead(200, { 'content-type': file.type }).end(file.content);
      return;
    }
    const body = await text(request);
    const { authorization = '' } = headers;
    const answer = await server.fetch(`http://127.0.0.1${url}`, { method, headers: { authorization }, body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  };
}
