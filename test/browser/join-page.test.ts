import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerUnderTest } from '../apps/server/server-under-test.js';
import { hasChromium, launch } from './open-page.js';

describe.runIf(hasChromium())('The invitation page, in a browser', () => {
  const profile = mkdtempSync(join(tmpdir(), 'waxwing-join-'));
  let server: ServerUnderTest;
  let browser: BrowserContext;
  let page: Page;
  let link: string;
  const problems: string[] = [];

  beforeAll(async () => {
    server = await ServerUnderTest.start({ withoutRelay: true });
    const owner = await server.addAccount('owner@example.com', { role: 100 });
    const { body } = await server.ask(owner, 'POST', 'invites/multiuse');
    const origin = await server.server.app.listen({ host: '127.0.0.1', port: 0 });
    link = origin + new URL(String(body.invite_link)).pathname;
    browser = await launch(profile);
    page = await browser.newPage();
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(profile, { recursive: true, force: true });
  });

  it('labels all fields, and lets a user join after correcting a mistake', async () => {
    await page.goto(link);
    const write = async (password: string) => {
      await page.getByLabel('Your name').fill('Grace <b>Hopper');
      await page.getByLabel('E-mail address').fill('grace@example.com');
      await page.getByLabel('New password').fill(password);
      await page.getByRole('button', { name: 'Join' }).click();
    };
    await page.evaluate('document.querySelector("form").noValidate = true');
    await write('short');
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Grace <b>Hopper');
    expect(await page.getByLabel('New password').inputValue()).toBe('');
    await page.getByLabel('Your name').fill('Grace Hopper');
    await page.getByLabel('New password').fill('correct horse');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: 'Welcome to Example' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Welcome to Example' }).waitFor();
    expect(new URL(page.url()).search).toBe('?joined=true');
    // The first attempt is refused with status 400, which Chromium logs to its console.
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
  }, 60_000);

  it('fits a phone’s screen after a user with a long address has joined', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(link);
    await page.getByLabel('Your name').fill('Augusta Ada');
    await page.getByLabel('E-mail address').fill(`${'countess'.repeat(7)}@example.com`);
    await page.getByLabel('New password').fill('correct horse');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: 'Welcome to Example' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  }, 60_000);

  it('fits a phone’s screen in light and dark mode', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const colors = new Set<unknown>();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(link);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      colors.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
    }
    expect(colors.size).toBe(2);
  }, 60_000);
});
