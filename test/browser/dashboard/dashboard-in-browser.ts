import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePrivateFile } from '@waxwing/service/config';
import type { BrowserContext, Page } from 'playwright-core';
import {
  type DeliveriesUnderTest,
  startDeliveriesUnderTest,
} from '../../apps/relay/deliveries/deliveries-under-test.js';
import { launch } from '../open-page.js';

export const adminToken = 'the-token-of-the-operator-of-this-relay';

/** A relay that listens, with the built page of its dashboard in a browser. */
export class DashboardInBrowser {
  readonly relay: DeliveriesUnderTest;
  readonly page: Page;
  /** Address of the page. */
  readonly url: string;
  /** Everything that the page logged or threw. */
  readonly problems: string[] = [];
  /** The origins of all requests. */
  readonly origins = new Set<string>();
  readonly #browser: BrowserContext;
  readonly #folder: string;

  static async open(environment: Readonly<Record<string, string>> = {}): Promise<DashboardInBrowser> {
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-dashboard-'));
    const tokenFile = join(folder, 'admin-token');
    await writePrivateFile(tokenFile, `${adminToken}\n`);
    const settings = { RELAY_ADMIN_TOKEN_FILE: tokenFile, RELAY_ADMIN_ON: 'main', ...environment };
    const relay = await startDeliveriesUnderTest({ environment: settings });
    const origin = await relay.app.listen({ host: '127.0.0.1', port: 0 });
    const browser = await launch(join(folder, 'profile'));
    return new DashboardInBrowser({ relay, browser, folder, page: await browser.newPage(), origin });
  }

  private constructor(parts: {
    readonly relay: DeliveriesUnderTest;
    readonly browser: BrowserContext;
    readonly folder: string;
    readonly page: Page;
    readonly origin: string;
  }) {
    this.relay = parts.relay;
    this.page = parts.page;
    this.url = `${parts.origin}/admin/`;
    this.#browser = parts.browser;
    this.#folder = parts.folder;
    this.page.on('console', (message) => this.problems.push(message.text()));
    this.page.on('pageerror', (error) => this.problems.push(String(error)));
    this.page.on('request', (request) => this.origins.add(new URL(request.url()).origin));
  }

  async signIn(token = adminToken): Promise<void> {
    await this.page.goto(this.url);
    await this.page.getByLabel('Admin token').fill(token);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Opens one of the pages by its link. */
  async show(name: string): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name }).click();
    await this.page.getByRole('heading', { level: 1, name }).waitFor();
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.relay.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
