import { roles } from '@waxwing/server';
import { beforeEach, describe, expect, it } from 'vitest';
import { deactivateByAddress } from '#server/membership/user-administration/change-activity.js';
import {
  addUser,
  allUsers,
  requireUser,
  rotateApiKey,
} from '#server/membership/user-administration/manage-users.js';
import { readRealm } from '#server/people/realm/realm-store.js';
import { findUser } from '#server/people/users/user-store.js';
import { findCredential } from '#server/platform/authentication/credential-store.js';
import { type ServerDatabase, type ServerTables, serverMigrations } from '#server/tables.js';
import {
  deleteOldTestNotifications,
  takeTestNotification,
} from '#server-push/notifications/test-notification-limits.js';
import { activateRegistration } from '#server-push/push-devices/pending-registrations.js';
import { activePushDevices } from '#server-push/push-devices/push-device-store.js';
import { acceptRegistration } from '../support/accept-registration.js';
import { accountIdText, relayDeviceId, userId as user } from '../support/ids.js';
import { eachBackend } from '../support/test-databases.js';

const start = 1_800_000_000_000;
const minute = 60_000;
const hour = 60 * minute;
const clock = () => start;
const administration = { clock, realm: { url: 'https://chat.example.com' } };

function person(email: string, ownerEmail?: string) {
  return { email, fullName: 'Somebody', role: roles.member, isBot: ownerEmail !== undefined, ownerEmail };
}

eachBackend((backend) => {
  let database: ServerDatabase;
  beforeEach(async () => {
    database = await backend.open({ migrations: serverMigrations, now: clock });
  });

  describe('the users of a server', () => {
    it('are found by their e-mail address, which is unique regardless of case', async () => {
      const { user } = await addUser(database, administration, person('Ada@Example.com'));
      expect(await requireUser(database, 'ada@EXAMPLE.com')).toMatchObject({
        id: user.id,
        email: 'Ada@Example.com',
      });
      await expect(addUser(database, administration, person('ADA@example.com'))).rejects.toThrow(
        'already exists',
      );
      expect(await findUser(database.db, 'bob@example.com')).toBeUndefined();
    });

    it('are added once if two commands add the same address concurrently', async () => {
      const url = await backend.freshUrl();
      const open = () => backend.open<ServerTables>({ migrations: serverMigrations, now: clock, url });
      const one = await open();
      // On SQLite, one database is enough, because commands wait for each other.
      const other = backend.name === 'postgres' ? await open() : one;
      const commands = [
        addUser(one, administration, person('ada@example.com')),
        addUser(other, administration, person('ADA@example.com')),
      ];
      const ends = await Promise.allSettled(commands);
      const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
      expect(refusals).toEqual([expect.stringContaining('already exists')]);
    });

    it('get a new API key without any other change', async () => {
      const { user } = await addUser(database, administration, person('ada@example.com'));
      const before = await findUser(database.db, user.email);
      const { apiKeyHash: former } = await findCredential(database.db, { email: user.email, keyHash: '' });
      await rotateApiKey(database, clock, user.email);
      expect(await findUser(database.db, user.email)).toEqual(before);
      const { apiKeyHash: after } = await findCredential(database.db, { email: user.email, keyHash: '' });
      expect(after).not.toBe(former);
    });

    it('are removed together with their bots, and free their addresses', async () => {
      const { user: ada } = await addUser(database, administration, person('ada@example.com'));
      const { user: bob } = await addUser(database, administration, person('bob@example.com'));
      const { user: bot } = await addUser(database, administration, person('bot@example.com', ada.email));
      const { user: formerBot } = await addUser(
        database,
        administration,
        person('former@example.com', ada.email),
      );
      const one = await deactivateByAddress(database, clock, formerBot.email);
      expect(one).toEqual({ userIds: [formerBot.id], revokedInvitations: 0 });
      const two = await deactivateByAddress(database, clock, ada.email);
      expect([...two.userIds].sort()).toEqual([ada.id, bot.id].sort());
      const pages: number[][] = [];
      for await (const page of allUsers(database)) pages.push(page.map(({ id }) => id));
      expect(pages).toEqual([[bob.id]]);
      const { user: again } = await addUser(database, administration, person('ada@example.com'));
      expect(again.id).toBeGreaterThan(formerBot.id);
    });
  });

  describe('the organization of a server', () => {
    it('has one UUID, even if several processes create it concurrently', async () => {
      const configured = { url: 'https://chat.example.com', name: 'Example' };
      const asked = await Promise.all(
        Array.from({ length: 5 }, () => readRealm(database, configured, start)),
      );
      expect(new Set(asked.map(({ uuid }) => uuid)).size).toBe(1);
      expect(await readRealm(database, { ...configured, name: 'Renamed' }, start)).toEqual({
        ...asked[0],
        name: 'Renamed',
      });
    });
  });

  describe('test notifications', () => {
    const userId = user(7);
    const take = async (now: number, ...accounts: string[]) => {
      const devices = await activePushDevices(database.db, userId);
      const asked = devices
        .filter(({ pushAccountId }) => accounts.includes(pushAccountId))
        .map(({ id }) => ({ row: { table: 'push_devices', id } }) as const);
      return database.write((transaction) => takeTestNotification(transaction, userId, asked, now));
    };
    beforeEach(async () => {
      for (const pushAccountId of ['1', '2'].map(accountIdText)) {
        await database.write(async (transaction) => {
          const registration = {
            pushAccountId,
            tokenKind: 'fcm' as const,
            hash: 'hash',
            pushPublicKey: 'key',
            bouncerPublicKey: 'bouncer',
            encryptedPushRegistration: 'sealed',
          };
          const accepted = await acceptRegistration(transaction, userId, registration, start);
          if (accepted.kind !== 'accepted') throw new Error('not accepted');
          await activateRegistration(transaction, accepted.key, relayDeviceId(Number(pushAccountId)), start);
        });
      }
    });

    it('are limited to one per device in ten seconds, even for concurrent requests', async () => {
      const waits = await Promise.all(Array.from({ length: 8 }, () => take(start, '1')));
      expect(waits.filter((wait) => wait === undefined)).toHaveLength(1);
      // The wait is 10 s after a recorded notification, and 1 s while another transaction is recording one.
      expect(waits.filter((wait) => wait === 10 || wait === 1)).toHaveLength(7);
      expect(await take(start, '2')).toBeUndefined();
      expect(await take(start + 9999, '1')).toBe(1);
      expect(await take(start + 10_000, '1')).toBeUndefined();
    });

    it('are not blocked by rows from before the clock was set back', async () => {
      for (let count = 0; count < 20; count++)
        expect(await take(start + count * minute, '1')).toBeUndefined();
      expect(await take(start - 2 * hour, '1')).toBeUndefined();
      expect(await take(start - 2 * hour, '1')).toBe(10);
    });

    it('are limited to twenty per user and hour, and older rows are deleted', async () => {
      for (let count = 0; count < 20; count++)
        expect(await take(start + count * minute, '1')).toBeUndefined();
      expect(await take(start + 20 * minute, '2')).toBe(40 * 60);
      expect(await take(start + hour - 1, '2')).toBe(1);
      expect(await take(start + hour, '2')).toBeUndefined();
      const rows = () => database.db.selectFrom('test_notifications').select('sent_at').execute();
      expect(await rows()).toHaveLength(20);
      const remove = (limit: number) =>
        database.write((transaction) =>
          deleteOldTestNotifications(transaction, start + hour + 5 * minute, limit),
        );
      expect([await remove(3), await remove(3)]).toEqual([3, 2]);
      expect(await rows()).toHaveLength(15);
    });
  });
});
