import { expect, it } from 'vitest';
import { waitingForLocks, whileLocked } from '../../../support/lock-waits.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);

  it.each([
    ['an existing channel', {}, 0],
    ['a new private channel', { invite_only: true }, 0],
    ['a new public channel', {}, 1],
  ])(
    'a request to join %s (%o) waits %i times for the lock of the announcement channel',
    async (...[what, fields, waits]) => {
      const place = await addChannel(organisation, { members: ['owner'], name: organisation.newName() });
      await organisation.do('owner', 'PATCH', 'realm', { new_stream_announcements_stream_id: place.id });
      const name = organisation.newName();
      if (what === 'an existing channel') await addChannel(organisation, { name });
      const { db } = organisation.server.server.database;
      let waited = -1;
      const answer = await whileLocked(
        db,
        (transaction) =>
          transaction.selectFrom('channels').select('id').where('id', '=', place.id).forUpdate().execute(),
        () =>
          organisation.ask('member', 'POST', 'users/me/subscriptions', {
            subscriptions: [{ name }, { name: name.toUpperCase() }],
            announce: true,
            ...fields,
          }),
        async () => {
          waited = await waitingForLocks(db);
        },
      );
      expect(answer.body).toMatchObject({ result: 'success' });
      expect(waited).toBe(waits);
    },
  );
});
