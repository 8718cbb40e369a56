import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../open-page.js';
import { adminToken, DashboardInBrowser } from './dashboard-in-browser.js';

describe.runIf(hasChromium())('The sign-in of the dashboard', () => {
  let dashboard: DashboardInBrowser;

  beforeAll(async () => {
    dashboard = await DashboardInBrowser.open();
  });
  afterAll(() => dashboard?.close());

  it('rejects a wrong token and says why', async () => {
    const { page } = dashboard;
    await dashboard.signIn('not-the-token-of-this-relay');
    await page.locator('.fault').waitFor();
    expect(await page.locator('.fault').innerText()).toMatch(/token/);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.context().cookies()).toEqual([]);
  });

  it('works by keyboard, and keeps the session after a reload', async () => {
    const { page } = dashboard;
    await page.reload();
    await page.getByLabel('Admin token').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type(adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/admin' });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('keeps the session, and says why, when the sign-out request fails', async () => {
    const { page } = dashboard;
    await page.route('**/admin/api/session', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('The relay does not answer. Check that it is running, and try again.').waitFor();
    expect(await page.getByRole('heading', { level: 1, name: 'Overview' }).count()).toBe(1);
    await page.unroute('**/admin/api/session');
  });

  it('ends the session on sign-out', async () => {
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You have signed out.').waitFor();
    await page.reload();
    await page.getByLabel('Admin token').waitFor();
  });

  it('limits the token attempts of an address', async () => {
    const { page } = dashboard;
    await expect
      .poll(async () => {
        await page.getByLabel('Admin token').fill('another-wrong-token-of-an-attacker');
        await page.getByRole('button', { name: 'Sign in' }).click();
        return page.locator('#sign-in-result').innerText();
      })
      .toMatch(/Try again in \d+ s\./);
  });
});
