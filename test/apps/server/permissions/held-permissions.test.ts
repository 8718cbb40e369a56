import type { UserId } from '@waxwing/protocol';
import { roles } from '@waxwing/server';
import { describe, expect, it } from 'vitest';
import type { GroupSettingValue } from '#server/people/permissions/group-setting-value.js';
import {
  type PermissionName,
  permissionNames,
  permissionSetting,
} from '#server/people/permissions/permission-settings.js';
import {
  holdsPermissions,
  type PermissionKey,
  readPermissions,
  roleGroupId,
  roleGroupIds,
  storePermission,
} from '#server/people/permissions/permission-store.js';
import { wholeRealm } from '#server/people/permissions/permission-tables.js';
import fc from '../../../support/fast-check.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const names = permissionNames('realm');
const roleOrder = [
  'owners',
  'administrators',
  'moderators',
  'fullmembers',
  'members',
  'everyone',
  'internet',
] as const;
const people = ['owner', 'administrator', 'moderator', 'member', 'guest'] as const;
/** Index of the narrowest role group that contains the user. */
const narrowest = { owner: 0, administrator: 1, moderator: 2, member: 3, guest: 5 };

interface Wanted {
  readonly people: readonly (typeof people)[number][];
  readonly groups: readonly ('nobody' | (typeof roleOrder)[number])[];
}

const wanted: fc.Arbitrary<Wanted> = fc.record({
  people: fc.subarray([...people], { maxLength: 2 }),
  groups: fc.subarray(['nobody' as const, ...roleOrder], { maxLength: 2 }),
});

/** Oracle: whether a user holds a permission according to the definition of role groups. */
function mayBy(
  { people: named, groups }: Wanted,
  who: (typeof people)[number],
  name: PermissionName<'realm'>,
) {
  if (who === 'guest' && !permissionSetting('realm', name).allowsEveryone) return false;
  return (
    named.includes(who) ||
    groups.some((group) => (roleOrder as readonly string[]).indexOf(group) >= narrowest[who])
  );
}

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const holder = (who: (typeof people)[number]) => ({ id: organisation.id(who), role: roles[who] });

  describe('the holder of a permission', () => {
    it('is in the permission’s value, directly or through nested groups; guests count only if everyone can hold it', async () => {
      const { database } = organisation.server.server;
      const ids = await roleGroupIds(database.db);
      await fc.assert(
        fc.asyncProperty(fc.subarray(names, { minLength: 1 }), fc.func(wanted), async (asked, wantedOf) => {
          await database.write(async ({ db }) => {
            for (const name of asked) {
              const { people: named, groups } = wantedOf(name);
              const value: GroupSettingValue = {
                directMembers: named.map((who) => organisation.id(who)),
                directSubgroups: groups.map((group) => roleGroupId(ids, `role:${group}`)),
              };
              await storePermission(db, { level: 'realm', ownerId: wholeRealm, name }, value);
            }
          });
          const keys = asked.map((name): PermissionKey => ({ level: 'realm', ownerId: wholeRealm, name }));
          for (const who of people) {
            expect([who, await holdsPermissions(database.db, holder(who), keys)]).toEqual([
              who,
              asked.map((name) => mayBy(wantedOf(name), who, name)),
            ]);
          }
        }),
        { numRuns: 25 },
      );
    });

    it('is in the default value if the permission is not set, even for channels and groups', async () => {
      const { db } = organisation.server.server.database;
      const keys: PermissionKey[] = [
        { level: 'channel', ownerId: 5, name: 'can_send_message_group' },
        { level: 'channel', ownerId: 5, name: 'can_subscribe_group' },
        { level: 'channel', ownerId: 5, name: 'can_remove_subscribers_group' },
        { level: 'channel', ownerId: 5, name: 'can_administer_channel_group' },
        { level: 'group', ownerId: 999, name: 'can_leave_group' },
      ];
      expect(await holdsPermissions(db, holder('administrator'), keys)).toEqual([
        true,
        false,
        true,
        false,
        true,
      ]);
      expect(await holdsPermissions(db, holder('guest'), keys)).toEqual([true, false, false, false, true]);
      expect(await holdsPermissions(db, holder('guest'), [])).toEqual([]);
    });

    it('is determined per channel, and the values of many channels are read together', async () => {
      const { database } = organisation.server.server;
      const name = 'can_send_message_group';
      const second = organisation.id('second') as UserId;
      const ids = await roleGroupIds(database.db);
      await database.write(async ({ db }) => {
        const value = { directMembers: [second], directSubgroups: [] };
        await storePermission(db, { level: 'channel', ownerId: 1, name }, value);
        await storePermission(db, { level: 'channel', ownerId: 2, name }, roleGroupId(ids, 'role:owners'));
      });
      const valuesOf = await readPermissions(database.db, 'channel', [1, 2, 3]);
      expect([1, 2, 3].map((ownerId) => valuesOf(ownerId)[name])).toEqual([
        { directMembers: [second], directSubgroups: [] },
        ids.get('role:owners'),
        ids.get('role:everyone'),
      ]);
      const keys = [1, 2, 3].map((ownerId) => ({ level: 'channel', ownerId, name }) as const);
      const member = { id: second, role: roles.member };
      expect(await holdsPermissions(database.db, member, keys)).toEqual([true, false, true]);
    });
  });
});
