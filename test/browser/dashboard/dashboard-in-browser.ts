import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { relayRegisterPath } from '@waxwing/protocol';
import { writePrivateFile } from '@waxwing/service/config';
import type { BrowserContext, Page } from 'playwright-core';
import {
  type DeliveriesUnderTest,
  realmUuid,
  startDeliveriesUnderTest,
} from '../../apps/relay/deliveries/deliveries-under-test.js';
import { sodium } from '../../apps/relay/keyring/ring-material.js';
import { CrashPhone } from '../../system/crash/crash-phone.js';
import { launch } from '../open-page.js';

export const adminToken = 'the-token-of-the-operator-of-this-relay';

/** A listening relay, and its built dashboard page in a browser. */
export class DashboardInBrowser {
  readonly relay: DeliveriesUnderTest;
  readonly page: Page;
  /** The page's URL. */
  readonly url: string;
  /** All console messages and errors of the page. */
  readonly problems: string[] = [];
  /** Origins of all requests that the page sent. */
  readonly origins = new Set<string>();
  readonly #browser: BrowserContext;
  readonly #folder: string;
  readonly #time: { passed: number };

  static async open(environment: Readonly<Record<string, string>> = {}): Promise<DashboardInBrowser> {
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-dashboard-'));
    const tokenFile = join(folder, 'admin-token');
    await writePrivateFile(tokenFile, `${adminToken}\n`);
    const settings = { RELAY_ADMIN_TOKEN_FILE: tokenFile, RELAY_ADMIN_ON: 'main', ...environment };
    const time = { passed: 0 };
    const clock = () => Date.now() + time.passed;
    const relay = await startDeliveriesUnderTest({ environment: settings, clock });
    const origin = await relay.app.listen({ host: '127.0.0.1', port: 0 });
    const browser = await launch(join(folder, 'profile'));
    return new DashboardInBrowser({ relay, browser, folder, page: await browser.newPage(), origin, time });
  }

  private constructor(parts: {
    readonly relay: DeliveriesUnderTest;
    readonly browser: BrowserContext;
    readonly folder: string;
    readonly page: Page;
    readonly origin: string;
    readonly time: { passed: number };
  }) {
    this.#time = parts.time;
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

  /** Opens a page of the dashboard through its link. */
  async show(name: string): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name }).click();
    await this.page.getByRole('heading', { level: 1, name }).waitFor();
  }

  /** Advances the relay's clock. */
  pass(milliseconds: number): void {
    this.#time.passed += milliseconds;
  }

  /** Registers phones, with registrations sealed to the primary key. */
  async register(count: number): Promise<void> {
    const { app, authorization, ring } = this.relay;
    const bouncerPublicKey = await ring.keeper.look(
      ({ bouncerKeys }) => bouncerKeys.find(({ state }) => state === 'primary')?.publicKey ?? '',
    );
    for (let index = 0; index < count; index += 1) {
      const phone = new CrashPhone({ sodium, bouncerPublicKey, kind: 'fcm' });
      const form = new URLSearchParams({
        realm_uuid: realmUuid,
        push_account_id: phone.pushAccountId,
        bouncer_public_key: bouncerPublicKey,
        encrypted_push_registration: phone.sealedRegistration,
      });
      const answer = await app.inject({
        method: 'POST',
        url: relayRegisterPath,
        headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
        payload: form.toString(),
      });
      if (answer.statusCode !== 200) throw new Error(answer.body);
    }
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.relay.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
