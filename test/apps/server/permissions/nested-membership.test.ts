import type { GroupId, UserId } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import { CompiledQuery } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openServerDatabase } from '#server/open-database.js';
import {
  isInAnyGroup,
  membersAmong,
  membersOfGroups,
  subgroupsOfGroups,
} from '#server/people/permissions/nested-membership.js';
import type { ServerDatabase } from '#server/tables.js';
import fc from '../../../support/fast-check.js';
import { groupId, userId } from '../../../support/ids.js';
import { type ObservedQuery, observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { isInAny, type NestedGroups } from './nested-groups.js';

const groupCount = 7;
const userCount = 5;

interface Drawn {
  /** `members[g][u]`: user u is in group g directly. */
  readonly members: readonly (readonly boolean[])[];
  /** `nested[g][h]`: group h is in group g directly; only for h < g, so that there is no cycle. */
  readonly nested: readonly (readonly boolean[])[];
}

const matrix = (rows: number, columns: number) =>
  fc.array(fc.array(fc.boolean(), { minLength: columns, maxLength: columns }), {
    minLength: rows,
    maxLength: rows,
  });
const drawn: fc.Arbitrary<Drawn> = fc.record({
  members: matrix(groupCount, userCount),
  nested: matrix(groupCount, groupCount),
});

const everyGroup = [...Array(groupCount).keys()];
const everyUser = [...Array(userCount).keys()];
const holds = ({ nested }: Drawn, outer: number, inner: number) => inner < outer && nested[outer]?.[inner];

/** The groups inside each group, by Warshall's algorithm. */
function reachableByWarshall(organisation: Drawn): boolean[][] {
  const reach = everyGroup.map((g) => everyGroup.map((h) => g === h || holds(organisation, g, h) === true));
  for (const over of everyGroup) {
    for (const from of everyGroup) {
      for (const to of everyGroup) {
        if (reach[from]?.[over] && reach[over]?.[to]) (reach[from] as boolean[])[to] = true;
      }
    }
  }
  return reach;
}

/** The oracle uses its own numbers instead of database IDs. */
function oracle(organisation: Drawn) {
  const reach = reachableByWarshall(organisation);
  return {
    reach,
    members: everyGroup.map((g) =>
      everyUser.filter((u) => everyGroup.some((h) => reach[g]?.[h] && organisation.members[h]?.[u])),
    ),
  };
}

function inMemory(organisation: Drawn, group = (g: number) => g, user = (u: number) => u): NestedGroups {
  return new Map(
    everyGroup.map((g) => [
      group(g),
      {
        memberIds: everyUser.filter((u) => organisation.members[g]?.[u]).map((u) => user(u)),
        subgroupIds: everyGroup.filter((h) => holds(organisation, g, h)).map(group),
      },
    ]),
  );
}

describe('groups in memory', () => {
  it('contain exactly the users that Warshall’s algorithm finds', () => {
    fc.assert(
      fc.property(drawn, (organisation) => {
        const groups = inMemory(organisation);
        const { members } = oracle(organisation);
        for (const g of everyGroup) {
          for (const u of everyUser) expect(isInAny(groups, u, [g])).toBe(members[g]?.includes(u));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are visited once each, even in a cycle', () => {
    const circle = new Map([
      [1, { memberIds: [5], subgroupIds: [2] }],
      [2, { memberIds: [6], subgroupIds: [1] }],
    ]);
    expect(isInAny(circle, 5, [2])).toBe(true);
    expect(isInAny(circle, 7, [2])).toBe(false);
  });

  it('ignore unknown groups', () => {
    expect(isInAny(new Map([[1, { memberIds: [5], subgroupIds: [9] }]]), 6, [1])).toBe(false);
    expect(isInAny(new Map(), 5, [])).toBe(false);
  });
});

eachBackend((backend) => {
  describe('groups in the database', () => {
    let database: ServerDatabase;
    const users: UserId[] = [];
    const groups: GroupId[] = [];
    beforeAll(async () => {
      database = await openServerDatabase({
        url: new Secret(await backend.freshUrl()),
        clock: Date.now,
        role: 'visiting',
        onJobError: (error) => {
          throw error;
        },
      });
      for (const u of everyUser) users.push(await insertUser(database, u));
      for (const g of everyGroup) groups.push(await insertGroup(database, g));
      return () => database.close();
    });

    async function store(organisation: Drawn): Promise<void> {
      const [group, user] = [(g: number) => groups[g] as GroupId, (u: number) => users[u] as UserId];
      await database.write(async ({ db }) => {
        await db.deleteFrom('user_group_members').where('group_id', 'in', groups).execute();
        await db.deleteFrom('user_group_subgroups').where('group_id', 'in', groups).execute();
        for (const [id, { memberIds, subgroupIds }] of inMemory(organisation, group, user)) {
          const members = memberIds.map((user_id) => ({ group_id: groupId(id), user_id: userId(user_id) }));
          const nested = subgroupIds.map((subgroup_id) => ({
            group_id: groupId(id),
            subgroup_id: groupId(subgroup_id),
          }));
          if (members.length > 0) await db.insertInto('user_group_members').values(members).execute();
          if (nested.length > 0) await db.insertInto('user_group_subgroups').values(nested).execute();
        }
      });
    }

    it('contain the same users as in memory, for many groups in one statement', async () => {
      await fc.assert(
        fc.asyncProperty(drawn, fc.subarray(everyGroup), async (organisation, asked) => {
          await store(organisation);
          const { reach, members } = oracle(organisation);
          const ids = asked.map((g) => groups[g] as GroupId);
          const found = await membersOfGroups(database.db, ids);
          const nested = await subgroupsOfGroups(database.db, ids);
          for (const g of asked) {
            const id = groups[g] as GroupId;
            expect(found.get(id)).toEqual(members[g]?.map((u) => users[u]));
            const inner = everyGroup.filter((h) => h !== g && reach[g]?.[h]);
            expect(nested.get(id)).toEqual(inner.map((h) => groups[h]));
          }
          const among = await membersAmong(database.db, users, ids);
          for (const g of asked) {
            const expected = new Set(members[g]?.map((u) => users[u]));
            expect(among.get(groups[g] as GroupId)).toEqual(expected);
          }
          for (const u of everyUser) {
            const isIn = asked.some((g) => members[g]?.includes(u));
            expect(await isInAnyGroup(database.db, users[u] as UserId, ids)).toBe(isIn);
          }
        }),
        { numRuns: 40 },
      );
    });

    it('are looked up on SQLite by the groups of each user, not by each pair of a user and a group', async () => {
      if (backend.name === 'postgres') return;
      const seen: ObservedQuery[] = [];
      const stop = observeQueries(database.db, (query) => void seen.push(query));
      await membersAmong(database.db, users, groups).finally(stop);
      const steps: string[] = [];
      for (const { sql, parameters } of seen) {
        const explained = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]);
        const { rows } = await database.db.executeQuery(explained);
        steps.push(...rows.map((row) => (row as { readonly detail: string }).detail));
      }
      expect(steps.filter((step) => step.includes('member'))).toEqual([
        expect.stringMatching(/^SEARCH member USING INDEX user_group_members_user_id \(user_id=\?\)/),
      ]);
    });

    it('contain no deactivated users, and an unknown group is empty', async () => {
      const everybody = everyGroup.map(() => everyUser.map(() => true));
      await store({ members: everybody, nested: everyGroup.map(() => everyGroup.map(() => false)) });
      const [first, gone] = [groups[0] as GroupId, users[2] as UserId];
      await database.db.updateTable('users').set({ is_active: 0 }).where('id', '=', gone).execute();
      expect((await membersOfGroups(database.db, [first])).get(first)).toEqual(
        users.filter((id) => id !== gone),
      );
      await database.db.updateTable('users').set({ is_active: 1 }).where('id', '=', gone).execute();
      expect((await membersOfGroups(database.db, [groupId(999_999)])).get(groupId(999_999))).toEqual([]);
      expect(await isInAnyGroup(database.db, gone, [groupId(999_999)])).toBe(false);
    });
  });
});

async function insertUser({ db }: ServerDatabase, u: number): Promise<UserId> {
  const email = `user${u}@example.com`;
  const values = { email, email_lower: email, full_name: email, role: 400, is_bot: 0, bot_owner_id: null };
  const { id } = await db
    .insertInto('users')
    .values({ ...values, api_key_hash: '', is_active: 1, created_at: 0 })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

async function insertGroup({ db }: ServerDatabase, g: number): Promise<GroupId> {
  const { id } = await db
    .insertInto('user_groups')
    .values({
      name: `group ${g}`,
      name_lower: `group ${g}`,
      description: '',
      is_system: 0,
      is_active: 1,
      creator_id: null,
      created_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
