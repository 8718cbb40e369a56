import { describeNotification, handlePushes } from '@waxwing/client/service-worker';

interface LongEvent {
  waitUntil(work: Promise<unknown>): void;
}

/**
 * Announces each event that the worker has handled, so that tests need not poll the list of notifications. Chromium may
 * lose a notification if a page lists notifications while the worker shows one.
 */
const handled = new BroadcastChannel('handled');
const { prototype } = (globalThis as unknown as { ExtendableEvent: { prototype: LongEvent } })
  .ExtendableEvent;
const { waitUntil } = prototype;
prototype.waitUntil = function (work) {
  const announce = (outcome: string) => handled.postMessage(outcome);
  waitUntil.call(
    this,
    work.then(
      () => announce('done'),
      (error: Error) => announce(String(error)),
    ),
  );
};

/** A click on a notification whose text starts with `Linked` opens a different page. */
handlePushes({
  describe(notification) {
    const described = describeNotification(notification);
    return described.body.startsWith('Linked') ? { ...described, url: '?linked' } : described;
  },
});
