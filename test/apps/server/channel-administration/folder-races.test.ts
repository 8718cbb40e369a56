import { expect, it } from 'vitest';
import { holdFoldersAlone } from '../../../../apps/server/src/channels/folders/folder-store.js';
import type { ServerTransaction } from '../../../../apps/server/src/tables.js';
import { whileLocked } from '../../../support/lock-waits.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);

  it('a channel comes into no folder that is being removed', async () => {
    const name = organisation.newName();
    const { channel_folder_id: id } = await organisation.do('owner', 'POST', 'channel_folders/create', {
      name,
    });
    const channel = new ChannelUnderTest(organisation);
    await channel.make();
    const answer = await whileLocked(
      organisation.server.server.database.db,
      async (db) => {
        await holdFoldersAlone({ db } as ServerTransaction);
        await db
          .deleteFrom('channel_folders')
          .where('id', '=', id as number)
          .execute();
      },
      () => organisation.ask('owner', 'PATCH', `streams/${channel.id}`, { folder_id: id }),
    );
    expect(answer.body).toMatchObject({ code: 'BAD_REQUEST', msg: 'Invalid channel folder ID' });
    expect((await channel.read()).folder_id).toBeNull();
  });
});
