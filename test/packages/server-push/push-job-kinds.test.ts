import { createServerPush, openPushDatabase } from '@waxwing/server-push';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readReceiptsJob } from '#server-push/notifications/read-receipts.js';
import { allPushJobKinds, pushJobKinds } from '#server-push/push-job-kinds.js';
import { sqliteBackend } from '../../support/test-databases.js';

let database: Awaited<ReturnType<typeof openPushDatabase>>;
beforeAll(async () => {
  database = await openPushDatabase({ url: await sqliteBackend().freshUrl() });
});
afterAll(() => database.close());

it('commands and status checks know exactly the job kinds that push handles', async () => {
  const handle = vi.spyOn(database.jobs, 'handle');
  const push = await createServerPush({
    database,
    authenticate: async () => undefined,
    realm: { uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836', url: 'https://bank.example', name: 'Bank' },
    relay: { kind: 'not-configured' },
  });
  await push.close();
  const kinds = handle.mock.calls.map(([kind]) => kind).filter((kind) => !kind.startsWith('schedule/'));
  // `pushJobKinds` omits the job that reads receipts, because a pending receipt is not a fault.
  expect(kinds.sort()).toEqual([...allPushJobKinds].sort());
  expect([...allPushJobKinds].sort()).toEqual([...pushJobKinds, readReceiptsJob].sort());
});
