import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../open-page.js';
import { DashboardInBrowser } from './dashboard-in-browser.js';

const unusedForDays = 60;

describe.runIf(hasChromium())('The Keys page', () => {
  let dashboard: DashboardInBrowser;

  beforeAll(async () => {
    dashboard = await DashboardInBrowser.open();
    await dashboard.register(3);
    await dashboard.signIn();
    await dashboard.show('Keys');
  });
  afterAll(() => dashboard?.close());

  const cards = () => dashboard.page.locator('li.key');
  const states = () => cards().locator('h3 .badge').allInnerTexts();
  const dialog = () => dashboard.page.getByRole('dialog');

  it('rotates the key and leaves the previous key open', async () => {
    const { page } = dashboard;
    await expect.poll(states).toEqual(['primary']);
    await page.getByRole('button', { name: 'Rotate' }).click();
    await dialog().getByText('This is safe').waitFor();
    await dialog().getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('status').getByText('is the new primary key.').waitFor();
    await expect.poll(states).toEqual(['primary', 'open']);
    await expect.poll(() => page.locator('.timeline svg[role=img]').count()).toBe(2);
    expect(await cards().nth(1).locator('.uses').innerText()).toContain('3 registrations');
  });

  it('disables the button that retires a key while phones use this key', async () => {
    const { page } = dashboard;
    await page.getByRole('button', { name: /^Retire key/ }).click();
    await dialog().getByText('Phones still need this key.').waitFor();
    expect(await dialog().innerText()).toContain('opened 3 registrations');
    const retire = dialog().getByRole('button', { name: 'Retire' });
    expect(await retire.isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await expect.poll(states).toEqual(['primary', 'open']);
    // The focus returns to the button that opened the dialog.
    expect(await page.evaluate('document.activeElement.ariaLabel')).toMatch(/^Retire key/);
  });

  it('retires a key once no phone uses it', async () => {
    const { page } = dashboard;
    dashboard.pass((unusedForDays + 1) * 86_400_000);
    // The session has expired in the meantime.
    await dashboard.signIn();
    await dashboard.show('Keys');
    await page.getByRole('button', { name: /^Retire key/ }).click();
    await dialog().getByText('No phone needs this key anymore.').waitFor();
    await dialog().getByRole('button', { name: 'Retire' }).click();
    await page.getByRole('status').getByText('is retired.').waitFor();
    await expect.poll(states).toEqual(['primary', 'retired']);
  });

  it('requires a reason to revoke a key, and creates a new primary key', async () => {
    const { page } = dashboard;
    await page.getByRole('button', { name: /^Revoke key/ }).click();
    await dialog().locator('.answer').waitFor();
    const revoke = dialog().getByRole('button', { name: 'Revoke' });
    expect(await revoke.isDisabled()).toBe(true);
    await dialog().getByLabel('Reason').fill('the backup was stolen');
    await revoke.click();
    await page.getByRole('status').getByText('is revoked.').waitFor();
    await expect.poll(states).toEqual(['primary', 'revoked', 'retired']);
  });

  it('logs nothing and sends no request to another origin', () => {
    expect(dashboard.problems).toEqual([]);
    expect([...dashboard.origins]).toEqual([new URL(dashboard.url).origin]);
  });
});
