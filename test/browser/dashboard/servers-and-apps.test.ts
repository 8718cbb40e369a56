import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fcmRequest } from '../../apps/relay/deliveries/deliveries-under-test.js';
import { hasChromium } from '../open-page.js';
import { DashboardInBrowser } from './dashboard-in-browser.js';

describe.runIf(hasChromium())('The Servers, Apps and Changes pages', () => {
  let dashboard: DashboardInBrowser;

  beforeAll(async () => {
    dashboard = await DashboardInBrowser.open();
    const { relay } = dashboard;
    await relay.notify([fcmRequest(await relay.addFcm('a-phone'))]);
    await dashboard.signIn();
  });
  afterAll(() => dashboard?.close());

  it('say when the devices were last counted', async () => {
    const { page, relay } = dashboard;
    await dashboard.show('Overview');
    await relay.context.deviceGauge.count();
    await page.getByText('counted every 15 minutes').waitFor();
  });

  it('suspend a server after a confirmation, and resume it', async () => {
    const { page, relay } = dashboard;
    await dashboard.show('Servers');
    await page.getByRole('button', { name: 'Suspend ours' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('status').getByText('ours is suspended.').waitFor();
    // Relays cache a server for two seconds.
    const answer = async () => (await relay.notify([])).status;
    await expect.poll(answer, { timeout: 10_000 }).toBe(401);
    await page.getByRole('button', { name: 'Resume ours' }).click();
    await page.getByRole('status').getByText('ours is active again.').waitFor();
    await expect.poll(answer, { timeout: 10_000 }).toBe(200);
  });

  it('find servers by part of their name', async () => {
    const { page } = dashboard;
    const search = page.getByLabel('Search by name');
    await search.fill('nothing like this');
    await page.getByText('No server matches “nothing like this”.').waitFor();
    await search.fill('our');
    await page.getByRole('rowheader', { name: 'ours' }).waitFor();
  });

  it('show an invitation’s code only once', async () => {
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Make an invitation' }).click();
    const code = await page.getByLabel('Invitation code').inputValue();
    expect(code.length).toBeGreaterThan(20);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(code);
  });

  it('show when an app last delivered, and test its credential with the vendor', async () => {
    const { page, relay } = dashboard;
    // Google responds like this to a valid credential with an unknown token.
    await relay.faults([{ vendor: 'fcm', status: 400, reason: 'INVALID_ARGUMENT', field: 'message.token' }]);
    await dashboard.show('Apps');
    const app = page.locator('li.app').filter({ hasText: 'Google' });
    expect(await app.innerText()).toMatch(/sending[\s\S]*(?:now|second|minute)/);
    await app.getByRole('button', { name: /^Check/ }).click();
    await app.getByText('The vendor accepts the credential.').waitFor();
  });

  it('list the changes made in the dashboard', async () => {
    const { page } = dashboard;
    await dashboard.show('Audit log');
    await page.getByRole('row').filter({ hasText: 'suspend' }).first().waitFor();
  });

  it('log nothing to the console', () => {
    expect(dashboard.problems).toEqual([]);
  });
});
