import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../support/free-ports.js';
import { SpawnedProcess } from '../../support/spawned-process.js';
import { hasChromium, launch } from '../open-page.js';

const portsOfQuickstart = 24;

describe.runIf(hasChromium())('The quickstart’s dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-dashboard-'));
  const data = join(folder, 'data');
  let quickstart: SpawnedProcess;
  let browser: BrowserContext;

  beforeAll(async () => {
    const portBase = String(await freePort(portsOfQuickstart));
    quickstart = new SpawnedProcess('waxwing-quickstart', ['--data-dir', data, '--port-base', portBase]);
    browser = await launch(join(folder, 'profile'));
    await vi.waitFor(
      () => expect(quickstart.output).toMatch(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{64}\//),
      90_000,
    );
  });
  afterAll(async () => {
    await browser?.close();
    await quickstart?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it('rotates the key, and the phone in the browser registers with the new key automatically', async () => {
    const [phoneLink = ''] = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{64}\//.exec(quickstart.output) ?? [];
    const [, dashboardLink = ''] = /(\S+\/admin\/) with the token in/.exec(quickstart.output) ?? [];
    const phone = await browser.newPage();
    await phone.goto(phoneLink);
    await phone.getByText('Notifications are on for this phone.').waitFor();

    const page = await browser.newPage();
    await page.goto(dashboardLink);
    await page.getByLabel('Admin token').fill(readFileSync(join(data, 'admin-token.txt'), 'utf8').trim());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('status').getByText('is the new primary key.').waitFor();
    const newKey = await page.locator('li.key code').first().innerText();

    await phone.getByText('The phone has registered again, sealed to the new key.').waitFor();
    expect(await phone.locator('.key-list li:has(.sealed-to) code').innerText()).toBe(newKey);
  });
});
