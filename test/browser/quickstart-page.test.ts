import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebPushPhone } from '../apps/relay/deliveries/web-push-phone.js';
import { freePort } from '../support/free-ports.js';
import { SpawnedProcess } from '../support/spawned-process.js';
import { hasChromium, launch } from './open-page.js';

const portsOfQuickstart = 24;
/** Text of the message that the curl command sends. */
const curlWords = 'look here';

/** Sends a request with headers that a browser would not send. Returns the response's status and text. */
function ask(url: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    });
    asked.once('error', reject).end();
  });
}

/** The FCM token of the phone on the page. */
function storedToken(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const [{ name = '' } = {}] = await indexedDB.databases();
    const opening = indexedDB.open(name);
    await new Promise((resolve) => opening.addEventListener('success', resolve));
    const reading = opening.result.transaction('texts').objectStore('texts').get('token');
    await new Promise((resolve) => reading.addEventListener('success', resolve));
    opening.result.close();
    return String(reading.result);
  });
}

/** Makes the page subscribe to the stand-in push service, because Debian's Chromium supports only Google's. */
async function subscribeAt(page: Page, { token }: WebPushPhone): Promise<void> {
  await page.evaluate((text) => {
    const { endpoint, p256dh, auth } = JSON.parse(text);
    let made: object | null = null;
    Object.assign(PushManager.prototype, {
      getSubscription: async () => made,
      async subscribe({ applicationServerKey }: { applicationServerKey: string }) {
        const binary = atob(applicationServerKey.replace(/-/g, '+').replace(/_/g, '/'));
        const key = Uint8Array.from(binary, (character) => character.charCodeAt(0)).buffer;
        made = { endpoint, keys: { p256dh, auth }, options: { applicationServerKey: key } };
        return made;
      },
    });
  }, token);
}

describe.runIf(hasChromium())('The quickstart page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-page-'));
  const problems: string[] = [];
  const asked = new Set<string>();
  let quickstart: SpawnedProcess;
  let browser: BrowserContext;
  let page: Page;
  let link: string;
  let curl: string;

  beforeAll(async () => {
    const portBase = String(await freePort(portsOfQuickstart));
    const data = join(folder, 'data');
    quickstart = new SpawnedProcess('waxwing-quickstart', ['--data-dir', data, '--port-base', portBase]);
    browser = await launch(join(folder, 'profile'));
    page = await browser.newPage();
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (each) => asked.add(new URL(each.url()).origin));
    const printedLink = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{64}\//;
    await vi.waitFor(() => expect(quickstart.output).toMatch(printedLink), 90_000);
    link = printedLink.exec(quickstart.output)?.[0] ?? '';
    // The output ends with the curl command and the link.
    curl = quickstart.output.split('\n').findLast((line) => /^ +curl /.test(line)) ?? '';
    await page.goto(link);
    await page.getByText('Notifications are on for this phone.').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await quickstart?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const cards = (): Promise<string> => page.locator('.columns').innerText();

  it('shows the curl command’s message on its phone, and that neither the relay nor Google could read it', async () => {
    expect(await page.locator('#command').innerText()).toBe(curl.trim());
    await promisify(execFile)('bash', ['-c', curl], { cwd: folder });
    await page.locator('.phone').getByText(`@Visitor ${curlWords}`).waitFor();
    await page.locator('#vendor-words.good').waitFor();
    const relay = page.getByRole('article', { name: 'The relay' });
    expect(await relay.innerText()).toMatch(/[A-Za-z0-9+/]{96}…\s+[\d,]+ bytes\./);
    expect(await relay.innerText()).toContain('Not found in its database and log');
    const server = page.getByRole('article', { name: 'The server' });
    expect(await server.innerText()).toMatch(
      /[A-Za-z0-9+/]{96}…\s+\d+ bytes\..*[\s\S]*Not found in its database/,
    );
    expect(await cards()).not.toContain(curlWords);
    expect(await cards()).not.toContain(await storedToken(page));
    expect(await page.locator('.columns .bad').count()).toBe(0);
  }, 60_000);

  it('sends a text to both phones, and finds it in no database but the server’s', async () => {
    const words = 'A parcel of nightingales is at the gate';
    await page.getByLabel('What it says').fill(words);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('On its way to 2 devices').waitFor();
    await page.locator('.phone').getByText(words).waitFor();
    await expect.poll(() => quickstart.output).toMatch(new RegExp(`read: .*"content":"${words}"`));
    expect(await cards()).not.toContain(words);
    // Positive control: the same search finds the text on the server, and nowhere else.
    const holders = await page.evaluate(
      async ([text, token]) => {
        const body = new URLSearchParams({ text: text as string, token: token as string });
        return (await fetch('api/holders', { method: 'POST', body })).json();
      },
      [words, 'nobody’s token'],
    );
    expect(holders).toMatchObject({ text: { server: true, relay: false, vendor: false } });
  }, 60_000);

  it('follows a rotation of the relay’s key automatically, and still opens messages', async () => {
    const before = await page.locator('.key-list li').allInnerTexts();
    expect(before).toEqual([expect.stringMatching(/primary[\s\S]*sealed to this key/)]);
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await page.getByText('The phone has registered again, sealed to the new key.').waitFor();
    const after = await page.locator('.key-list li').allInnerTexts();
    expect(after).toHaveLength(2);
    expect(after.filter((text) => text.includes('sealed to this key'))).toEqual([
      expect.stringContaining('primary'),
    ]);
    expect(after.find((text) => text.includes('accepted'))?.slice(0, 8)).toBe(before[0]?.slice(0, 8));
    const keyId = await page.locator('.key-list li:has(.sealed-to) code').innerText();
    const server = page.getByRole('article', { name: 'The server' });
    expect(await server.innerText()).toContain(`with the private half of its key ${keyId}.`);
    await page.getByLabel('What it says').fill('Sealed once more, and read');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.phone').getByText('Sealed once more, and read').waitFor();
  }, 60_000);

  it('restores the same phone after a reload, and shows nothing twice', async () => {
    await page.reload();
    await page.locator('.key-list li').first().waitFor();
    await page.getByText('Notifications are on for this phone.').waitFor();
    await page.getByLabel('What it says').fill('Once only, please');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('On its way to 2 devices').waitFor();
    await page.locator('.phone').getByText('Once only, please').waitFor();
    expect(await page.locator('.notifications li').count()).toBe(1);
  }, 60_000);

  it('shows a push in a service worker when it uses the browser’s push service', async () => {
    const { web_push_url: webPushUrl, url: vendorsUrl } = JSON.parse(
      readFileSync(join(folder, 'data/quickstart.json'), 'utf8'),
    ).vendors as { web_push_url: string; url: string };
    const pushes = new WebPushPhone(`${webPushUrl}/push/chromium`);
    await browser.grantPermissions(['notifications'], { origin: new URL(link).origin });
    await subscribeAt(page, pushes);
    const debug = await browser.newCDPSession(page);
    let registrationId = '';
    debug.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      registrationId = registrations.at(-1)?.registrationId ?? registrationId;
    });
    await debug.send('ServiceWorker.enable');
    await page.getByRole('button', { name: 'Use this browser’s push service' }).click();
    await page.getByText('Notifications come from this browser’s push service').waitFor();

    const words = 'A kingfisher, through another door';
    await page.getByLabel('What it says').fill(words);
    await page.getByRole('button', { name: 'Send' }).click();
    const [body] = await vi.waitFor(async () => {
      const answer = await fetch(`${vendorsUrl}/deliveries?token=${encodeURIComponent(pushes.endpoint)}`);
      const { deliveries } = (await answer.json()) as { deliveries: { body: string }[] };
      expect(deliveries).toHaveLength(1);
      return deliveries.map((delivery) => delivery.body);
    }, 20_000);
    // The test decrypts the push. Chromium decrypts real pushes itself, but DevTools can deliver only decrypted data.
    const data = pushes.open(Buffer.from(body ?? '', 'base64'));
    expect(data).not.toContain(words);
    await debug.send('ServiceWorker.deliverPushMessage', {
      origin: new URL(link).origin,
      registrationId,
      data,
    });
    await page.locator('.phone').getByText(words).waitFor();
    await page.locator('#relay-words.good').waitFor();
    const shown = await vi.waitFor(async () => {
      const texts = await page.evaluate(async () => {
        const registration = await navigator.serviceWorker.ready;
        return (await registration.getNotifications()).map((each) => each.body);
      });
      expect(texts).toHaveLength(1);
      return texts;
    });
    expect(shown).toEqual([words]);
    expect(await page.locator('.columns .bad').count()).toBe(0);
  }, 60_000);

  it('passes axe without serious findings, and fits a narrow phone in light and dark mode', async () => {
    // Injects axe through the debugger, because the page's Content-Security-Policy blocks third-party scripts.
    await page.evaluate(axe.source);
    const colors = new Set<unknown>();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      colors.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      const faults = await page.evaluate(
        'axe.run().then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id, nodes }) => id + " " + nodes[0].html))',
      );
      expect(faults).toEqual([]);
    }
    expect(colors.size).toBe(2);
  }, 60_000);

  it('sends no request to another origin, and logs and throws nothing', () => {
    expect([...asked]).toEqual([new URL(link).origin]);
    expect(problems).toEqual([]);
  });

  it('refuses requests for other host names, from other origins, and without the token', async () => {
    const { host, origin } = new URL(link);
    const refusals = [
      ask(link, { host: 'waxwing.example' }),
      ask(`${link}api/phone`, { host, origin: 'https://waxwing.example' }),
      ask(`${link}api/phone`, { host, origin: 'http://127.0.0.1:1' }),
      ask(`${origin}/`, { host }),
      ask(`${origin}/api/phone`, { host }),
      ask(link.replace(/[0-9a-f]{64}/, 'f'.repeat(64)), { host }),
      ask(`${link}server/api/v1/users`, { host }),
    ];
    const answers = await Promise.all(refusals);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 404, 404, 404, 404]);
    for (const { text } of answers) expect(JSON.parse(text)).toEqual({ error: expect.stringMatching(/\w/) });
    const policy = (await fetch(link)).headers;
    expect(policy.get('content-security-policy')).toContain("script-src 'self' 'wasm-unsafe-eval';");
    expect(policy.get('access-control-allow-origin')).toBeNull();
  });
});
