import { roles } from '@waxwing/server';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rotateApiKey } from '#server/membership/user-administration/manage-users.js';
import { lockGroups } from '#server/people/permissions/lock-groups.js';
import { whileLocked } from '../../../support/lock-waits.js';
import { eachBackend, eachPostgres } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { type Account, ServerUnderTest } from '../server-under-test.js';
import { InvitationUnderTest } from './invitation-under-test.js';

const rounds = 6;
let inviters = 0;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  /** A second server on the same database if the backend allows it. */
  let other: ServerUnderTest;
  beforeAll(async () => {
    const { server } = organisation;
    other =
      backend.name === 'sqlite'
        ? server
        : await ServerUnderTest.start({ databaseUrl: server.databaseUrl, withoutRelay: true });
  });
  afterAll(async () => {
    if (other !== organisation.server) await other.close();
  });

  const newInviter = () => {
    inviters += 1;
    return organisation.server.addAccount(`racer${inviters}@example.com`, { role: roles.administrator });
  };

  const endings: [string, (inviter: Account) => Promise<unknown>][] = [
    ['is demoted', ({ userId }) => organisation.do('owner', 'PATCH', `users/${userId}`, { role: 400 })],
    ['is deactivated', ({ userId }) => organisation.do('owner', 'DELETE', `users/${userId}`)],
    [
      'gets a new key',
      ({ email }) => rotateApiKey(organisation.server.server.database, () => organisation.server.now, email),
    ],
  ];

  it.each(endings)(
    'a join while the inviter %s succeeds or fails as a whole, and later joins fail',
    async (_what, end) => {
      const channel = await addChannel(organisation);
      const deadlocksBefore = await countDeadlocks();
      for (let round = 0; round < rounds; round++) {
        const inviter = await newInviter();
        const wish = { invite_as: roles.administrator, stream_ids: [channel.id] };
        const link = await InvitationUnderTest.make(organisation, inviter, wish);
        const [one, , two] = await Promise.all([link.join(), end(inviter), link.join(other)]);
        for (const joined of [one, two]) {
          expect([
            { status: 303, role: roles.administrator, channelIds: [channel.id] },
            { status: 404, role: undefined, channelIds: [] },
          ]).toContainEqual({ status: joined.status, role: joined.role, channelIds: joined.channelIds });
        }
        await link.admitsNoOne();
      }
      expect(await countDeadlocks()).toBe(deadlocksBefore);
    },
  );

  /** The number of deadlocks that PostgreSQL has detected in this database. */
  async function countDeadlocks(): Promise<number> {
    if (backend.name === 'sqlite') return 0;
    const { db } = organisation.server.server.database;
    const { rows } = await sql<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(db);
    return Number(rows[0]?.deadlocks);
  }
});

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);

  it('a join waits for a concurrent demotion and uses the inviter’s new role', async () => {
    await organisation.do('owner', 'PATCH', 'realm', {
      create_multiuse_invite_group: { new: await organisation.roleGroup('members') },
    });
    inviters += 1;
    const inviter = await organisation.server.addAccount(`racer${inviters}@example.com`, {
      role: roles.administrator,
    });
    const link = await InvitationUnderTest.make(organisation, inviter, { invite_as: roles.administrator });
    const { db } = organisation.server.server.database;
    const joined = await whileLocked(
      db,
      async (transaction) => {
        const unused = () => undefined;
        await lockGroups({
          db: transaction,
          isShared: false,
          beforeCommit: unused,
          afterCommit: unused,
        });
        const set = { role: roles.moderator };
        await transaction.updateTable('users').set(set).where('id', '=', inviter.userId).execute();
      },
      () => link.join(),
    );
    expect(joined).toMatchObject({ status: 303, role: roles.moderator });
  });

  it('a join waits for a concurrent key replacement and then fails', async () => {
    const link = await InvitationUnderTest.make(organisation, organisation.accounts.administrator);
    const { db } = organisation.server.server.database;
    const id = organisation.id('administrator');
    const joined = await whileLocked(
      db,
      async (transaction) => {
        const set = { api_key_hash: 'another' };
        await transaction.updateTable('users').set(set).where('id', '=', id).execute();
      },
      () => link.join(),
      (transaction) => transaction.deleteFrom('invitations').where('inviter_id', '=', id).execute(),
    );
    expect(joined).toMatchObject({ status: 404, role: undefined });
  });
});
