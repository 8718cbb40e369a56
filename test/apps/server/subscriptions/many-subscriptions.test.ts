import type { UserId } from '@waxwing/protocol';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { waitingForLocks } from '../../../support/lock-waits.js';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type OrganisationUnderTest, sharedOrganisation } from '../organisation-under-test.js';

const users = 300;
const channels = 5;

/** A member's request that affects many users: method, path and parameters. */
type Request = readonly ['POST' | 'PATCH' | 'DELETE', string, Record<string, unknown>];

interface Made {
  readonly userIds: readonly UserId[];
  readonly names: readonly string[];
  readonly channelId: number;
  readonly groupId: number;
  readonly newName: string;
}

/** The requests that write one row per user, in an order in which each changes something. */
const requests: Readonly<Record<string, (made: Made) => Request>> = {
  'subscribes many users': ({ userIds: principals, names }) => [
    'POST',
    'users/me/subscriptions',
    { subscriptions: names.map((name) => ({ name })), principals },
  ],
  'unsubscribes many users': ({ userIds: principals, names: subscriptions }) => [
    'DELETE',
    'users/me/subscriptions',
    { subscriptions, principals },
  ],
  'gives many users a permission': ({ userIds, channelId }) => [
    'PATCH',
    `streams/${channelId}`,
    { can_send_message_group: { new: { direct_members: userIds, direct_subgroups: [] } } },
  ],
  'creates a group of many users': ({ userIds: members, newName: name }) => [
    'POST',
    'user_groups/create',
    { name, description: '', members },
  ],
  'adds many users to a group': ({ userIds: add, groupId }) => [
    'POST',
    `user_groups/${groupId}/members`,
    { add },
  ],
  'removes many users from a group': ({ userIds, groupId }) => [
    'POST',
    `user_groups/${groupId}/members`,
    { delete: userIds },
  ],
};

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let made: Made;

  beforeAll(async () => {
    made = await makeAll(organisation);
  });

  const send = (what: string) => {
    const request = requests[what]?.({ ...made, newName: organisation.newName() });
    return organisation.do('member', ...(request as Request));
  };

  describe('a member of a large organization', () => {
    it.each(Object.keys(requests))(
      '%s, in pieces on SQLite and in one statement on PostgreSQL',
      async (what) => {
        /** How many numbers each statement's parameters contain. */
        const sizes: number[] = [];
        const stop = observeQueries(organisation.server.server.database.db, ({ sql: text, parameters }) => {
          const isWriting = /\b(insert into|update|delete from) "?(subscriptions|user_group_members)\b/.test(
            text,
          );
          if (isWriting) sizes.push(String(parameters).match(/\d+/g)?.length ?? 0);
        });
        await send(what).finally(stop);
        const several = Math.max(...sizes) < sizes.reduce((sum, size) => sum + size, 0) / 2;
        expect(several, String(sizes)).toBe(backend.name === 'sqlite');
      },
    );
  });

  if (backend.name === 'postgres')
    it.each(Object.keys(requests))(
      'a member who %s twice concurrently does not delay writes by other users',
      async (what) => {
        const { db } = organisation.server.server.database;
        const { asked } = await db.transaction().execute(async (transaction) => {
          // Both requests wait for the member's row, the second behind the first.
          const own = transaction
            .selectFrom('users')
            .select('id')
            .where('id', '=', organisation.id('member'));
          await own.forUpdate().execute();
          let answered = 0;
          const ask = () =>
            send(what).then(
              () => void answered++,
              () => void answered++,
            );
          const first = ask();
          await expect.poll(() => waitingForLocks(db)).toBe(1);
          const asked = [first, ask()];
          for (let count = 0; count < channels; count++) {
            const subscriptions = [{ name: organisation.newName() }];
            await organisation.do('second', 'POST', 'users/me/subscriptions', { subscriptions });
          }
          expect(answered).toBe(0);
          return { asked };
        });
        await Promise.all(asked);
      },
    );
});

async function makeAll(organisation: OrganisationUnderTest): Promise<Made> {
  const numbers = Array.from({ length: users }, (_, number) => ({ number }));
  const { rows } = await organisation.server.server.database.write(({ db }) =>
    sql<{ id: UserId }>`
      insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
      select 'user' || v.number || '@example.com', 'user' || v.number || '@example.com', 'User ' || v.number,
        400, 0, 'none', 1, 0
      from ${rowsAsTable(db, 'v', { number: 'integer' }, numbers)} returning id`.execute(db),
  );
  const names = Array.from({ length: channels }, () => organisation.newName());
  await organisation.do('member', 'POST', 'users/me/subscriptions', {
    subscriptions: names.map((name) => ({ name })),
  });
  const channel = await organisation.do('member', 'GET', 'get_stream_id', { stream: names[0] });
  const group = await organisation.do('member', 'POST', 'user_groups/create', {
    name: organisation.newName(),
    description: '',
    members: [],
  });
  return {
    userIds: rows.map(({ id }) => id),
    names,
    channelId: Number(channel.stream_id),
    groupId: Number(group.group_id),
    newName: '',
  };
}
