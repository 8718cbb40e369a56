import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeChatServer, fromBase64 } from '../packages/client/fake-chat-server.js';
import { bouncerKey, keyListAnswer, signer } from '../packages/client/key-list-maker.js';
import { openSealed } from '../support/noble-oracle.js';
import { relayProtocolVectors } from '../support/protocol-vectors.js';
import type { ClientPage } from './client-page.js';
import { hasChromium, type OpenedPage, openPage } from './open-page.js';

declare const clientPage: ClientPage;

const vectors = relayProtocolVectors();
const { gen11 } = vectors;

/** Forwards the page's requests to the stand-in for a chat server. */
function serve(server: FakeChatServer) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const headers = request.headersDistinct as Record<string, string[]>;
    const { method = 'GET', url = '/' } = request;
    const init = { method, headers: { authorization: String(headers.authorization ?? '') }, body };
    const answer = await server.fetch(`http://127.0.0.1${url}`, init);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  };
}

describe.runIf(hasChromium())('The client in a browser', () => {
  const server = new FakeChatServer();
  let opened: OpenedPage;

  beforeAll(async () => {
    server.now = Date.now();
    opened = await openPage(new URL('client-page.ts', import.meta.url).pathname, serve(server));
    server.realmUrl = new URL(opened.page.url()).origin;
    await opened.page.waitForFunction(() => 'clientPage' in globalThis);
  });
  afterAll(async () => {
    await opened?.close();
  });

  it.each(vectors.registrations)(
    'opens the sealed $kind registration of the test vectors',
    async (vector) => {
      const { bouncer_public_key, bouncer_private_key } = vectors;
      const registration = await opened.page.evaluate(
        ([sealed, publicKey, privateKey]) => clientPage.openRegistration(sealed, publicKey, privateKey),
        [vector.sealed, bouncer_public_key, bouncer_private_key] as const,
      );
      const plaintext = JSON.parse(vector.plaintext);
      expect(registration).toMatchObject({ token: plaintext.token, timestamp: plaintext.timestamp });
    },
  );

  it('seals a registration that the oracle opens', async () => {
    const { bouncer_public_key, bouncer_private_key } = vectors;
    const sealed = await opened.page.evaluate(
      (publicKey) => clientPage.sealRegistration('jeton:1-a_b', 1773200000, publicKey),
      bouncer_public_key,
    );
    const keys = [bouncer_public_key, bouncer_private_key].map(fromBase64);
    const plaintext = openSealed(fromBase64(sealed), keys[0] as Uint8Array, keys[1] as Uint8Array);
    expect(JSON.parse(new TextDecoder().decode(plaintext))).toMatchObject({
      token_kind: 'fcm',
      token: 'jeton:1-a_b',
      timestamp: 1773200000,
    });
  });

  it.each([
    ['as it is', gen11.encrypted_data, JSON.parse(gen11.plaintext)],
    ['cut short', gen11.encrypted_data.slice(0, -4), 'cannot-open'],
  ])(
    'opens the notification of the test vectors with the expected result: %s',
    async (_, encryptedData, expected) => {
      const id = '9223372036854775807';
      const notification = await opened.page.evaluate(
        ([received, privateKey, publicKey, pushAccountId]) =>
          clientPage.openPush(received, privateKey, publicKey, pushAccountId),
        [
          `{"push_account_id":${id},"encrypted_data":"${encryptedData}"}`,
          gen11.client_private_key,
          gen11.push_public_key,
          id,
        ] as const,
      );
      expect(notification).toEqual(expected);
    },
  );

  /**
   * For each generation: the registrations that the relay has decrypted, and a push to the phone that registered last.
   */
  const generations = {
    431: {
      opened: () => server.registrations,
      push: (notification: object) => server.pushTo({ ...notification }),
    },
    512: {
      opened: () => server.clientDevices.opened,
      push(notification: object) {
        const [row] = [...server.clientDevices.rows.values()].slice(-1);
        if (row === undefined) throw new Error('No device has registered yet.');
        return server.clientDevices.sealFor(row, JSON.stringify(notification), new Uint8Array(24).fill(7));
      },
    },
  } as const;

  it.each([431, 512] as const)(
    'registers with the key list on a phone whose clock is three days off, and opens its notifications: level %d',
    async (level) => {
      server.featureLevel = level;
      const relaySigner = signer(100);
      server.addBouncerKey(1);
      server.addBouncerKey(2);
      server.keyList = keyListAnswer({
        issuedAt: Math.floor(server.now / 1000),
        primary: bouncerKey(2),
        accepted: [bouncerKey(1)],
        signer: relaySigner,
      });
      const result = await opened.page.evaluate((options) => clientPage.register(options), {
        bouncerPublicKey: bouncerKey(1),
        signingPublicKey: relaySigner.publicKey,
        email: server.email,
        apiKey: server.apiKey,
        clockErrorMilliseconds: -3 * 86_400_000,
      });
      expect(result).toEqual({
        first: {
          code: 'active',
          sentence: 'Notifications are on for this phone.',
          keySource: 'key-list',
          warning: expect.stringMatching(/^The server's clock says .+, and the phone's clock says .+\.$/),
        },
        second: 'active',
      });
      const generation = generations[level];
      expect(generation.opened()).toHaveLength(1);
      const [{ registration, bouncerPublicKey } = { registration: {}, bouncerPublicKey: '' }] =
        generation.opened();
      expect(bouncerPublicKey).toBe(bouncerKey(2));
      expect(Math.abs(Number(registration.timestamp) - server.now / 1000)).toBeLessThan(60);

      const realm_url = await opened.page.evaluate(() => location.origin);
      const test = { type: 'test', realm_url, user_id: 10, time: 1773200000 };
      const open = (received: Record<string, unknown>) =>
        opened.page.evaluate((push) => clientPage.open(push), received);
      expect(await open(generation.push(test))).toEqual(test);
      expect(await open(generation.push(test))).toBe('repeat');
    },
  );

  describe('two tabs', () => {
    let other: Page;
    const options = () => ({
      bouncerPublicKey: server.addBouncerKey(1),
      email: server.email,
      apiKey: server.apiKey,
    });
    const inBothTabs = <Result>(task: (page: Page) => Promise<Result>) =>
      Promise.all([opened.page, other].map(task));
    const syncBoth = () =>
      inBothTabs((page) => page.evaluate((given) => clientPage.syncInStorage(given), options()));
    const stored = (name: string) => other.evaluate((key) => localStorage.getItem(key), name);

    beforeAll(async () => {
      other = await opened.page.context().newPage();
      await other.goto(opened.page.url());
      await other.waitForFunction(() => 'clientPage' in globalThis);
    });
    afterAll(() => other.close());

    it('use one account when they register at the same time', async () => {
      server.featureLevel = 431;
      server.devices.clear();
      server.clientDevices.rows.clear();
      const ids = await syncBoth();
      expect([...server.devices.keys()]).toEqual([ids[0]]);
      expect(ids[1]).toBe(ids[0]);
    });

    it('use one device and one push key when both move to the newer generation at the same time', async () => {
      expect(server.devices.size).toBe(1);
      server.featureLevel = 512;
      const before = server.requestsTo('register_client_device').length;
      await syncBoth();
      expect(server.clientDevices.rows.size).toBe(1);
      expect(server.requestsTo('register_client_device')).toHaveLength(before + 1);
      expect(server.devices.size).toBe(0);
      const [row] = server.clientDevices.rows.values();
      const accounts = await stored('waxwing.accounts');
      expect(accounts?.match(/"pushKeyId":\d+/g)).toEqual([`"pushKeyId":${row?.push_key_id}`]);
    });

    it('stop a sync and stay signed out when the user signs out in one of them', async () => {
      let answer = () => {};
      const held = new Promise<undefined>((resolve) => {
        answer = () => resolve(undefined);
      });
      const registered = server.requestsTo('register').length;
      server.overrides.set('/api/v1/register', () => held as Promise<never>);
      const synced = opened.page.evaluate(() => clientPage.syncAgain());
      await expect.poll(() => server.requestsTo('register').length).toBe(registered + 1);
      const forgotten = other.evaluate(() => clientPage.forget());
      await expect.poll(() => stored('waxwing.signed-out')).toContain(' 10"');
      answer();
      expect(await synced).toBe('forgotten');
      await forgotten;
      server.overrides.clear();
      expect(server.clientDevices.rows.size).toBe(0);
      expect(await inBothTabs((page) => page.evaluate(() => clientPage.syncAgain()))).toEqual([
        'forgotten',
        'forgotten',
      ]);
      expect(await stored('waxwing.accounts')).toBeNull();
      expect(server.clientDevices.rows.size).toBe(0);
    });
  });

  it('logs and throws nothing on the page, even under its strict content security policy', () => {
    expect(opened.problems).toEqual([]);
  });
});
