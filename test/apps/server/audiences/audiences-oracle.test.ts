import type { UserId } from '@waxwing/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { readAudience, readAudiences } from '#server/conversations/channels/channel-audience.js';
import { type Channel, findChannels } from '#server/conversations/channels/channel-store.js';
import {
  losingAccess,
  mayFollow,
  updateAudience,
} from '#server/conversations/messages/edit/edit-audience.js';
import { readPermissions } from '#server/people/permissions/permission-store.js';
import { seeingUser } from '#server/people/users/user-visibility.js';
import type { QueueOwner } from '#server/platform/event-queues/queue-owners.js';
import { type ServerDatabase, type ServerTables, serverMigrations } from '#server/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { losing, readingChannel, seeingAcquainted, seeingChannel, updatedFor } from './audiences-of-all.js';
import { makeRandomOrganisation, type RandomOrganisation } from './random-organisation.js';
import { sequenceOf } from './sequence-of.js';

const organisations = 6;

eachBackend((backend) => {
  let database: ServerDatabase;

  beforeEach(async () => {
    database = await backend.open<ServerTables>({ migrations: serverMigrations });
  });

  /** Calls `check` for random organizations, with some of each organization's active users. */
  async function inOrganisations(
    check: (
      made: RandomOrganisation,
      some: readonly QueueOwner[],
      channels: readonly Channel[],
    ) => Promise<void>,
  ) {
    for (let seed = 1; seed <= organisations; seed++) {
      const random = sequenceOf(seed);
      const made = await database.write((transaction) => makeRandomOrganisation(transaction, random));
      const rows = await database.db
        .selectFrom('users')
        .select(['id', 'role'])
        .where('is_active', '=', 1)
        .orderBy('id')
        .execute();
      const some = rows.filter(() => random() < 0.6) as readonly QueueOwner[];
      await check(made, some, await findChannels(database.db, made.channelIds));
    }
  }

  const among = (ids: readonly UserId[], some: readonly QueueOwner[]) =>
    ids.filter((id) => some.some((each) => each.id === id)).sort((a, b) => a - b);

  describe('the audience within a subset of users', () => {
    it('matches the oracle for users who see and users who read a channel', () =>
      inOrganisations(async (_, some, channels) => {
        const { db } = database;
        const audienceOf = await readAudiences(
          db,
          channels.map((channel) => ({ channel })),
          some,
        );
        for (const channel of channels) {
          const audience = audienceOf(channel.id);
          expect(audience.seeing()).toEqual(among(await seeingChannel(db, channel), some));
          const readers = (await readingChannel(db, channel)).map(({ id }) => id);
          expect(audience.reading().map(({ id }) => id)).toEqual(among(readers, some));
        }
      }));

    it('matches the oracle for the state before a change, given as permission values', () =>
      inOrganisations(async (_, some, channels) => {
        const { db } = database;
        for (const channel of channels) {
          const permissions = (await readPermissions(db, 'channel', [channel.id]))(channel.id);
          const before = await readAudience(db, { channel, permissions }, some);
          expect(before.seeing()).toEqual(among(await seeingChannel(db, channel), some));
        }
      }));

    it('matches the oracle for edits and for moves between channels', () =>
      inOrganisations(async ({ messageIds }, some, channels) => {
        const { db } = database;
        for (const [index, origin] of channels.entries()) {
          for (const target of [origin, channels[(index + 1) % channels.length] as Channel]) {
            const messageId = messageIds[index] ?? (0 as never);
            const losers = await losing(db, origin, target);
            expect((await losingAccess(db, { origin, target }, some)).sort((a, b) => a - b)).toEqual(
              among(losers, some),
            );
            const all = await updatedFor(db, { origin, target, messageId, losing: new Set(losers) });
            const found = await updateAudience(
              db,
              {
                messageId,
                channels: { origin, target },
                copies: undefined,
                losingAccess: async () => losers,
              },
              some,
            );
            const expected = among([...all.keys()], some).map((id) => [id, all.get(id)]);
            expect([...found].sort(([a], [b]) => a - b)).toEqual(expected);
            if (target !== origin) continue;
            const asked = await database.db
              .selectFrom('users')
              .select('id')
              .where(mayFollow(messageId, origin))
              .execute();
            expect(asked.map(({ id }) => id)).toEqual(expect.arrayContaining([...all.keys()]));
          }
        }
      }));

    it('matches the oracle for users who see a user, where guests see only acquaintances', () =>
      inOrganisations(async ({ users }, some) => {
        const { db } = database;
        const members = await db
          .selectFrom('user_groups')
          .select('id')
          .where('name', '=', 'role:members')
          .executeTakeFirstOrThrow();
        await database.write((transaction) =>
          transaction.db
            .insertInto('permissions')
            .values({ level: 'realm', owner_id: 1, name: 'can_access_all_users_group', group_id: members.id })
            .execute(),
        );
        for (const user of users) {
          const seeing = (await seeingUser(db, user, some)).map(({ id }) => id);
          expect(seeing.sort((a, b) => a - b)).toEqual(among(await seeingAcquainted(db, user), some));
        }
      }));
  });
});
