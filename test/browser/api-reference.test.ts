import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { relayOperations } from '@waxwing/relay';
import { serverOperations } from '@waxwing/server';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRelayUnderTest } from '../apps/relay/relay-under-test.js';
import { ServerUnderTest } from '../apps/server/server-under-test.js';
import { sqliteBackend } from '../support/test-databases.js';
import { hasChromium, launch } from './open-page.js';

const databases = sqliteBackend();
const serious =
  'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))';
const programs = [
  {
    name: 'relay',
    operations: relayOperations,
    heading: 'POST /api/v1/remotes/push/e2ee/notify',
    async start() {
      const relay = await startRelayUnderTest(await databases.freshUrl());
      return { app: relay.app, close: () => relay.close() };
    },
  },
  {
    name: 'server',
    operations: serverOperations,
    heading: 'POST /api/v1/messages',
    async start() {
      const server = await ServerUnderTest.start({ withoutRelay: true });
      return { app: server.server.app, close: () => server.close() };
    },
  },
];

describe.runIf(hasChromium())('The API reference, in a browser', () => {
  const profile = mkdtempSync(join(tmpdir(), 'waxwing-reference-'));
  let browser: BrowserContext;
  beforeAll(async () => {
    browser = await launch(profile);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(profile, { recursive: true, force: true });
  });

  describe.each(programs)('for the $name', ({ operations, heading, name, start }) => {
    let running: Awaited<ReturnType<typeof start>>;
    let page: Page;
    let url: string;
    const [problems, requests]: [string[], string[]] = [[], []];
    beforeAll(async () => {
      running = await start();
      url = `${await running.app.listen({ host: '127.0.0.1', port: 0 })}/docs`;
      page = await browser.newPage();
      page.on('console', (message) => problems.push(message.text()));
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(url);
    }, 60_000);
    afterAll(async () => {
      await page?.close();
      await running?.close();
    });

    it('lists every operation, and has no broken link', async () => {
      expect(await page.locator('main article h3', { hasText: ' /' }).count()).toBe(operations.length);
      await page.getByRole('link', { name: heading, exact: true }).click();
      expect(await page.getByRole('heading', { name: heading, exact: true }).isVisible()).toBe(true);
      const broken = await page.evaluate(
        '[...document.querySelectorAll("a[href^=\\"#\\"]")].filter((a) => !document.getElementById(a.hash.slice(1))).map((a) => a.hash)',
      );
      expect(broken).toEqual([]);
    });

    it('sends no other request, fits narrow screens, and passes axe in light and dark mode', async () => {
      const colors = new Set<unknown>();
      for (const width of [1280, 390, 320]) {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 800 });
          await page.emulateMedia({ colorScheme });
          await page.goto(url);
          expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
          colors.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
          const folder = process.env.WAXWING_SCREENSHOTS;
          if (folder !== undefined) {
            await page.screenshot({ path: join(folder, `reference-${name}-${width}-${colorScheme}.png`) });
          }
          // Runs axe only once per color scheme, because each run takes seconds.
          if (width !== (colorScheme === 'light' ? 1280 : 390)) continue;
          await page.evaluate(axe.source);
          expect(await page.evaluate(serious)).toEqual([]);
        }
      }
      expect(colors.size).toBe(2);
      expect([...new Set(requests)].filter((asked) => asked !== url)).toEqual([]);
      expect(problems).toEqual([]);
    }, 120_000);
  });
});
