import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { Secret } from '@waxwing/service/config';
import { expect, it } from 'vitest';
import { openRelayDatabase } from '#relay/open-database.js';
import type * as RegistrationThread from '#relay/registration-thread/open-registration-writer.js';
import { sqliteBackend } from '../support/test-databases.js';

const built = new URL(
  '../../apps/relay/dist/registration-thread/open-registration-writer.js',
  import.meta.url,
);

it('a built relay finds the worker thread that stores registrations', async () => {
  const { startRegistrationThread } = (await import(built.href)) as typeof RegistrationThread;
  const url = new Secret(await sqliteBackend().freshUrl());
  const database = await openRelayDatabase({
    url,
    clock: Date.now,
    role: 'serving',
    onJobError: expect.fail,
  });
  const { port1: answers, port2: toThread } = new MessageChannel();
  const thread = startRegistrationThread(url, toThread);
  const ended = once(thread, 'exit');
  expect(await once(answers, 'message')).toMatchObject(['ready']);
  thread.postMessage('end');
  expect(await ended).toEqual([0]);
  await database.close();
});
