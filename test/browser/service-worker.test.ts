import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { hasChromium } from './open-page.js';
import { PushBrowser } from './push-browser.js';
import type { PushPage } from './push-page.js';

declare const pushPage: PushPage;

/** The part of a service worker's global scope that the tests use inside the worker. */
declare const self: {
  dispatchEvent(event: unknown): void;
  registration: { getNotifications(): Promise<object[]> };
};

describe.runIf(hasChromium()).each([431, 512])(
  'A service worker in a browser, at feature level %d',
  (level) => {
    let app: PushBrowser;

    beforeAll(async () => {
      app = await PushBrowser.start(level);
    });
    afterAll(() => app?.close());
    beforeEach(() => app.clear());

    it('opens a message and shows it once, however often it is delivered', async () => {
      const push = app.message(1, 'Lunch?');
      await app.deliver(push);
      expect(await app.visible()).toEqual([{ title: 'Iago', body: 'Lunch?' }]);
      await app.deliver(push);
      await app.deliver(app.message(2, 'With soup', { sender_id: 7, sender_full_name: 'Ophelia' }));
      expect(await app.visible()).toEqual([
        { title: 'Iago', body: 'Lunch?' },
        { title: 'Ophelia', body: 'With soup' },
      ]);
      await app.clear();
      await app.deliver(push);
      expect(await app.visible()).toEqual([{ title: 'No new messages', body: '' }]);
    });

    it('shows the messages of one conversation as lines of one notification', async () => {
      const garden = { channel_id: 3, channel_name: 'garden', topic: 'Bees' };
      await app.deliver(app.message(11, 'They are here', garden));
      await app.deliver(
        app.message(12, 'Ten of them', { ...garden, sender_full_name: 'Ada', topic: 'bees' }),
      );
      await app.deliver(app.message(13, 'Hello', { ...garden, topic: 'Ants' }));
      expect(await app.visible()).toEqual([
        { title: '#garden › Ants', body: 'Iago: Hello' },
        { title: '#garden › bees', body: 'Iago: They are here\nAda: Ten of them' },
      ]);
      const [bees, ants] = await app.page.evaluate(() => pushPage.tags());
      expect(bees).not.toBe(ants);
    });

    it('retracts messages that were read elsewhere, and always keeps a notification visible', async () => {
      await app.deliver(app.message(21, 'One'));
      await app.deliver(app.message(22, 'Two'));
      expect(await app.visible()).toEqual([{ title: 'Iago', body: 'One\nTwo' }]);
      await app.deliver(app.seal({ type: 'remove', message_ids: [21, 99] }));
      expect(await app.visible()).toEqual([{ title: 'Iago', body: 'Two' }]);
      await app.deliver(app.seal({ type: 'remove', message_ids: [22] }));
      expect(await app.visible()).toEqual([{ title: 'No new messages', body: '' }]);
      await app.deliver(app.message(23, 'Three'));
      expect(await app.visible()).toEqual([{ title: 'Iago', body: 'Three' }]);
    });

    it.each([
      [
        'cannot be opened',
        () => JSON.stringify({ ...JSON.parse(app.message(31, 'x')), encrypted_data: 'A'.repeat(200) }),
      ],
      ['belongs to another app', () => '{"hello":"world"}'],
      ['is empty', () => ''],
    ])('shows a placeholder for a push that %s', async (_, push) => {
      await app.deliver(push());
      expect(await app.visible()).toEqual([{ title: 'New notification', body: '' }]);
    });

    it('shows a test notification, and an app’s own payload with its title and body', async () => {
      const time = app.nextTime();
      await app.deliver(app.seal({ type: 'test', time, realm_name: 'Denmark' }));
      await app.deliver(
        app.seal({ type: 'payload', id: 'p1', time, payload: { title: 'Order 7', body: 'is ready' } }),
      );
      expect(await app.visible()).toEqual([
        { title: 'Denmark', body: 'Notifications work on this device.' },
        { title: 'Order 7', body: 'is ready' },
      ]);
    });

    it('shows no message again after the browser has stopped the worker', async () => {
      const push = app.message(41, 'Before');
      await app.deliver(push);
      expect(await app.visible()).toHaveLength(1);
      await app.debug.send('ServiceWorker.stopAllWorkers');
      await app.deliver(push);
      await app.deliver(app.message(42, 'After'));
      expect(await app.visible()).toEqual([{ title: 'Iago', body: 'Before\nAfter' }]);
    });

    it('never shows an old message again, even after more new messages than it remembers', async () => {
      const old = app.message(51, 'Old');
      await app.deliver(old);
      await app.deliver(
        ...Array.from({ length: 160 }, (_, index) => app.message(52 + index, `Message ${52 + index}`)),
      );
      expect(await app.visible()).toEqual([{ title: 'Iago', body: expect.stringMatching(/Message 211$/) }]);
      await app.clear();
      await app.deliver(old);
      expect(await app.visible()).toEqual([{ title: 'No new messages', body: '' }]);
    });

    it('opens a push only once if the page opens it at the same time', async () => {
      const shown: boolean[] = [];
      for (let id = 301; id < 306; id += 1) {
        const push = app.message(id, `Both ${id}`);
        const [, kind] = await Promise.all([
          app.deliver(push),
          app.page.evaluate((data) => pushPage.open(data), push),
        ]);
        expect(await app.visible()).not.toEqual([]);
        const isInWorker = JSON.stringify(await app.visible()).includes(`Both ${id}`);
        expect(isInWorker).toBe(kind === 'ignored');
        shown.push(isInWorker);
        await app.clear();
      }
      expect(shown).toHaveLength(5);
    });

    it('shows no placeholder for a removal while a window of the app is visible', async () => {
      const window = await app.page.context().newPage();
      await window.goto(`${app.origin}/app/`);
      await app.deliver(app.seal({ type: 'remove', message_ids: [1] }));
      await app.deliver(app.message(401, 'Last'));
      expect(await app.visible()).toEqual([{ title: 'Iago', body: 'Last' }]);
      await window.close();
    });

    /**
     * Simulates a click on the notification, and returns the worker's calls that focus, navigate or open a window.
     * Chromium allows these calls only after a user's click, so they are recorded instead of made.
     */
    async function click(): Promise<unknown[]> {
      return app.worker().evaluate(async () => {
        const scope = self as unknown as Record<string, { prototype: object }>;
        const calls: unknown[] = [];
        const record =
          (name: string, result: unknown) =>
          (...given: unknown[]) => {
            calls.push([name, ...given]);
            return Promise.resolve(result);
          };
        Object.assign((scope.WindowClient as { prototype: object }).prototype, {
          focus: record('focus', null),
          navigate: record('navigate', null),
        });
        Object.assign((scope.Clients as { prototype: object }).prototype, {
          openWindow: record('open', null),
        });
        const [notification] = await self.registration.getNotifications();
        let work: Promise<unknown> | undefined;
        const NotificationEvent = scope.NotificationEvent as unknown as new (
          name: string,
          init: object,
        ) => Event & {
          waitUntil(given: Promise<unknown>): void;
        };
        const event = new NotificationEvent('notificationclick', { notification });
        event.waitUntil = (given) => {
          work = given;
        };
        self.dispatchEvent(event);
        await work;
        return calls;
      });
    }

    it('opens a window on a click, or focuses the existing window and navigates to the URL', async () => {
      await app.deliver(app.message(501, 'Click'));
      expect(await app.visible()).toHaveLength(1);
      expect(await click()).toEqual([['open', `${app.origin}/app/`]]);
      await vi.waitFor(async () => expect(await app.visible()).toEqual([]));
      await app.deliver(app.message(502, 'Click'));
      expect(await app.visible()).toHaveLength(1);
      const window = await app.page.context().newPage();
      await window.goto(`${app.origin}/app/`);
      expect(await click()).toEqual([['focus']]);
      await window.goto(`${app.origin}/app/?elsewhere`);
      for (const [id, text, steps] of [
        [503, 'Click', [['focus']]],
        [504, 'Linked', [['focus'], ['navigate', `${app.origin}/app/?linked`]]],
      ] as const) {
        await app.deliver(app.message(id, text));
        expect(await app.visible()).toHaveLength(1);
        expect(await click()).toEqual(steps);
        await vi.waitFor(async () => expect(await app.visible()).toEqual([]));
      }
      await window.close();
    });

    it('shows one line for several test notifications', async () => {
      for (const _test of [1, 2]) await app.deliver(app.seal({ type: 'test', time: app.nextTime() }));
      const [shown, ...more] = await app.visible();
      expect([shown?.body, more]).toEqual(['Notifications work on this device.', []]);
    });

    it('notifies the app’s windows that the browser has replaced the subscription', async () => {
      await app.worker().evaluate(() => {
        const { ExtendableEvent } = self as unknown as { ExtendableEvent: new (name: string) => object };
        const event = new ExtendableEvent('pushsubscriptionchange');
        self.dispatchEvent(Object.assign(event, { newSubscription: {}, waitUntil: () => {} }));
      });
      await expect
        .poll(() => app.page.evaluate(() => pushPage.messages))
        .toEqual(['waxwing.subscription-changed']);
    });

    it('logs and throws nothing, neither on the page nor in the worker', () => {
      expect(app.problems).toEqual([]);
    });
  },
);
