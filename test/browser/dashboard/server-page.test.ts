import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePrivateFile } from '@waxwing/service/config';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerUnderTest, testPhone } from '../../apps/server/server-under-test.js';
import { notified, refused, registered } from '../../support/relay-stand-in.js';
import { hasChromium, launch } from '../open-page.js';
import { pictures, seriousFaults, shapes } from './looks.js';

const token = 'the-token-of-the-admin-of-this-server';

describe.runIf(hasChromium())('The server’s page for admins', () => {
  let folder: string;
  let server: ServerUnderTest;
  let browser: BrowserContext;
  let page: Page;
  let origin: string;
  /** Console messages and errors of the page. */
  const problems: string[] = [];
  const origins = new Set<string>();

  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), 'server-page-'));
    const tokenFile = join(folder, 'token');
    await writePrivateFile(tokenFile, token);
    server = await ServerUnderTest.start({ dashboard: { kind: 'on', tokenFile, port: 'main' } });
    origin = await server.server.app.listen({ host: '127.0.0.1', port: 0 });
    browser = await launch(join(folder, 'profile'));
    page = await browser.newPage();
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    const ada = await server.addAccount('ada@example.org');
    server.relay.next(registered(41));
    await server.register(ada, testPhone('1').fields);
    await server.settle();
    server.relay.otherwise(({ path }) => (path.endsWith('/notify') ? notified() : refused(404, 'NOT_FOUND')));
    await page.goto(`${origin}/admin/`);
    await page.getByText('SERVER_ADMIN_TOKEN_FILE').waitFor();
    await page.getByLabel('Admin token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function show(name: string): Promise<void> {
    await page.getByRole('navigation').getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await expect.poll(() => page.locator('.loading').count()).toBe(0);
  }

  it('shows devices, checks push, and sends a test notification', async () => {
    await page.getByRole('row', { name: 'Google (FCM) 1 0 0' }).waitFor();
    await show('Push');
    await page.getByRole('heading', { name: 'credentials passes' }).waitFor();
    await page.getByLabel('E-mail address of the user').fill('ada@example.org');
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The phones of ada@example.org: 1 sent').waitFor();
    await page.getByLabel('E-mail address of the user').fill('nobody@example.org');
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('There is no user with the address nobody@example.org').waitFor();
  });

  it('lists an abandoned job and retries it', async () => {
    const { database } = server.server;
    const job = { kind: 'revocations/forward', payload: '{}', giveUpAt: server.now - 1 };
    await database.write((transaction) => database.jobs.enqueue(transaction, job));
    await expect.poll(async () => (await database.jobs.list({ state: 'dead', limit: 1 })).length).toBe(1);
    await show('Jobs');
    await page.getByRole('button', { name: /^Retry revocations/ }).click();
    await page.getByText(/^The server tries revocations\/forward \d+ again\.$/).waitFor();
  });

  it.each(shapes)(
    'passes axe without serious findings and fits the screen: $size.width pixels, $colorScheme',
    async ({ size, colorScheme }) => {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const name of ['Overview', 'Push', 'Jobs']) {
        await show(name);
        const file = `server-${name.toLowerCase()}-${size.width}-${colorScheme}.png`;
        await page.screenshot({ path: join(pictures, file), fullPage: true });
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
        // Injects axe through the debugger, because the page's Content-Security-Policy blocks third-party scripts.
        await page.evaluate(axe.source);
        expect(await page.evaluate(seriousFaults), name).toEqual([]);
      }
    },
  );

  it('sends no request to another origin, and logs only the refused test notification', () => {
    expect([...origins]).toEqual([origin]);
    expect(problems.filter((problem) => !problem.includes('status of 409'))).toEqual([]);
  });
});
