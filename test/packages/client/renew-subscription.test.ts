import { subscriptionChangedMessage } from '@waxwing/client/service-worker';
import { expect, it } from 'vitest';
import { renewSubscription } from '#client/service-worker/renew-subscription.js';
import type { WorkerEvents, WorkerScope } from '#client/service-worker/worker-scope.js';

/** A worker's global scope with one window of the app. Records subscriptions and messages. */
function workerScope() {
  const subscribed: unknown[] = [];
  const posted: unknown[] = [];
  const scope = {
    registration: { pushManager: { subscribe: async (options: unknown) => void subscribed.push(options) } },
    clients: { matchAll: async () => [{ postMessage: (message: unknown) => void posted.push(message) }] },
  } as unknown as WorkerScope;
  return { scope, subscribed, posted };
}

const applicationServerKey = new ArrayBuffer(65);

it.each([
  ['no old subscription', {}, 0],
  ['an old subscription without options', { oldSubscription: {} }, 0],
  ['an old subscription without a key', { oldSubscription: { options: {} } }, 0],
  ['an old subscription with a key', { oldSubscription: { options: { applicationServerKey } } }, 1],
  [
    'a new subscription from the browser',
    { oldSubscription: { options: { applicationServerKey } }, newSubscription: {} },
    0,
  ],
])('the worker notifies windows of a changed subscription: with %s', async (_, event, subscriptions) => {
  const { scope, subscribed, posted } = workerScope();
  await renewSubscription(scope, event as WorkerEvents['pushsubscriptionchange']);
  expect(subscribed).toHaveLength(subscriptions);
  expect(posted).toEqual([subscriptionChangedMessage]);
});
