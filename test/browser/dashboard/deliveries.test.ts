import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { fcmRequest, until } from '../../apps/relay/deliveries/deliveries-under-test.js';
import { hasChromium } from '../open-page.js';
import { DashboardInBrowser } from './dashboard-in-browser.js';

const token = 'a-phone-that-waits';
const longerThanKept = 60 * 86_400_000;

describe.runIf(hasChromium())('The Deliveries page', () => {
  let dashboard: DashboardInBrowser;

  beforeAll(async () => {
    dashboard = await DashboardInBrowser.open();
    const { relay } = dashboard;
    // Google is unavailable for longer than the relay keeps a notification.
    await relay.faults([{ vendor: 'fcm', status: 503, reason: 'UNAVAILABLE' }]);
    await relay.notify([fcmRequest(await relay.addFcm(token))]);
    dashboard.pass(longerThanKept);
    await until(async () => (await relay.database.jobs.list({ state: 'dead', limit: 9 })).length === 1);
    await dashboard.signIn();
    await dashboard.show('Deliveries');
  });
  afterAll(() => dashboard?.close());

  it('shows a dead letter with its reason, and retries it', async () => {
    const { page, relay } = dashboard;
    const row = page.getByRole('row').filter({ hasText: 'deliver-notification' });
    expect(await row.innerText()).toMatch(/UNAVAILABLE|503/);
    await relay.faults([]);
    await row.getByRole('button', { name: /^Retry/ }).click();
    await page
      .getByRole('status')
      .getByText(/^The relay tries .* again\.$/)
      .waitFor();
    await page.getByText('None. The relay has not given up on any job.').waitFor();
    await expect.poll(() => relay.arrived(token)).toHaveLength(1);
  });

  it('thaws frozen deletions after a confirmation', async () => {
    const { page, relay } = dashboard;
    const reason = '40 of the last 100 tokens were reported dead';
    const at = Date.now() + longerThanKept;
    await new BreakerStore(relay.database).open({ app: 'fcm:our-app', kind: 'deletion', reason, at });
    await page.reload();
    const card = page.locator('li.panel').filter({ hasText: 'fcm:our-app' });
    expect(await card.innerText()).toContain(reason);
    await card.getByRole('button', { name: 'Thaw fcm:our-app' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Thaw' }).click();
    await page.getByText('None. The relay deletes devices as vendors report them gone.').waitFor();
  });

  it('logs nothing to the console', () => {
    expect(dashboard.problems).toEqual([]);
  });
});
