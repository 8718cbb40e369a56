import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { fcmRequest } from '../../apps/relay/deliveries/deliveries-under-test.js';
import { hasChromium } from '../open-page.js';
import { DashboardInBrowser } from './dashboard-in-browser.js';
import { pictures, seriousFaults, shapes } from './looks.js';

const pages = ['Overview', 'Keys', 'Servers', 'Apps', 'Deliveries', 'Audit log'];

describe.runIf(hasChromium())('Every page of the dashboard', () => {
  let dashboard: DashboardInBrowser;

  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true });
    dashboard = await DashboardInBrowser.open();
    const { relay } = dashboard;
    await dashboard.register(5);
    const devices = await Promise.all([1, 2, 3].map((number) => relay.addFcm(`phone-${number}`)));
    await relay.notify(devices.map((device) => fcmRequest(device)));
    await relay.faults([{ vendor: 'fcm', status: 503, reason: 'UNAVAILABLE' }]);
    await relay.notify([fcmRequest(await relay.addFcm('phone-of-a-dead-letter'))]);
    const breaker = { app: 'fcm:our-app', kind: 'deletion', at: Date.now() } as const;
    await new BreakerStore(relay.database).open({
      ...breaker,
      reason: '40 of the last 100 tokens were dead',
    });
    await dashboard.signIn();
    await dashboard.show('Keys');
    await dashboard.page.getByRole('button', { name: 'Rotate' }).click();
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await dashboard.page.getByText('is the new primary key').waitFor();
  });
  afterAll(() => dashboard?.close());

  it.each(shapes)(
    'passes axe without serious findings and fits the screen: $size.width pixels, $colorScheme',
    async ({ size, colorScheme }) => {
      const { page } = dashboard;
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const name of pages) {
        await dashboard.show(name);
        await expect.poll(() => page.locator('.loading').count()).toBe(0);
        const file = `${name.toLowerCase().replace(' ', '-')}-${size.width}-${colorScheme}.png`;
        await page.screenshot({ path: join(pictures, file), fullPage: true });
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
        // Injects axe through the debugger, because the page's Content-Security-Policy blocks third-party scripts.
        await page.evaluate(axe.source);
        expect(await page.evaluate(seriousFaults), name).toEqual([]);
      }
    },
  );

  it('supports keyboard navigation to and from the page', async () => {
    const { page } = dashboard;
    await page.reload();
    // Waits for the heading inside #main, because the placeholder page that loads the session has a heading too.
    await page.locator('#main h1').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByRole('link', { name: 'Servers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Servers');
    await expect.poll(() => page.title()).toBe('Servers – Waxwing relay');
  });

  it('sends no request to another origin and logs nothing', () => {
    expect([...dashboard.origins]).toEqual([new URL(dashboard.url).origin]);
    expect(dashboard.problems).toEqual([]);
  });
});
