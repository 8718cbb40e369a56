import { lockExclusive } from '@waxwing/storage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitingForLocks, whileLocked } from '../../../support/lock-waits.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { type Answer, ServerUnderTest } from '../server-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);
  /** A second server on the same database. */
  let other: ServerUnderTest;
  beforeAll(async () => {
    const { databaseUrl } = organisation.server;
    other = await ServerUnderTest.start({ databaseUrl, withoutRelay: true });
  });
  afterAll(() => other.close());

  it('a folder cannot be archived while a channel is being moved into it', async () => {
    const name = organisation.newName();
    const made = await organisation.do('owner', 'POST', 'channel_folders/create', { name });
    const folder = made.channel_folder_id as number;
    const channel = new ChannelUnderTest(organisation);
    await channel.make();
    const { db } = organisation.server.server.database;
    let archiving: Promise<Answer> | undefined;
    const moved = await whileLocked(
      db,
      // With this lock, both requests proceed until they publish their events.
      (transaction) => lockExclusive(transaction, 'publishing of events'),
      () => organisation.ask('owner', 'PATCH', `streams/${channel.id}`, { folder_id: folder }),
      async () => {
        archiving = other.ask(organisation.accounts.owner, 'PATCH', `channel_folders/${folder}`, {
          is_archived: 'true',
        });
        await expect.poll(() => waitingForLocks(db), { timeout: 20_000 }).toBe(2);
      },
    );
    expect(moved.body).toMatchObject({ result: 'success' });
    expect((await archiving)?.body.msg).toBe(
      'You need to remove all the channels from this folder to archive it.',
    );
    expect((await channel.read()).folder_id).toBe(folder);
  });
});
