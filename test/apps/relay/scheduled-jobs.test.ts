import type { RelayDeviceId } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { markExpired } from '#relay/registrations/store/relay-device-store.js';
import { expiredRetentionMilliseconds, renewalDeadlineMilliseconds } from '#relay/scheduled-jobs.js';
import { idle } from '../../support/idle.js';
import { eachBackend } from '../../support/test-databases.js';
import { goodForm, type RelayUnderTest, startRelayUnderTest } from './relay-under-test.js';

const dayMilliseconds = 86_400_000;

eachBackend((backend) => {
  describe('clean-up of a relay', () => {
    let relay: RelayUnderTest;
    beforeEach(async () => {
      relay = await startRelayUnderTest(await backend.freshUrl());
      await idle(relay.database.jobs);
    });
    afterEach(() => relay.close());

    const register = async (pushAccountId: string) =>
      (await relay.register(goodForm({ push_account_id: pushAccountId }))).body.device_id as RelayDeviceId;
    async function expire(id: RelayDeviceId): Promise<void> {
      const row = (await relay.devices()).find((device) => device.id === id);
      if (row?.push_account_id == null) throw new Error(`there is no device ${id}`);
      const name = { realmId: row.realm_id, relayDeviceId: id, addressee: row.push_account_id };
      const { now } = relay.time;
      await relay.database.write(({ db }) => markExpired(db, name, { at: now, ifRegisteredBefore: now + 1 }));
    }
    const ids = async () => (await relay.devices()).map(({ id }) => id);
    const removed = async () =>
      Object.fromEntries(
        [
          ...(await relay.context.metrics.text()).matchAll(
            /^waxwing_rows_removed_total{kind="([^"]+)"} (\d+)$/gm,
          ),
        ].map(([, kind, count]) => [kind, Number(count)]),
      );

    async function pass(milliseconds: number): Promise<void> {
      relay.time.now += milliseconds;
      await idle(relay.database.jobs);
    }
    async function passWeeks(weeks: number): Promise<void> {
      for (let week = 0; week < weeks; week += 1) await pass(7 * dayMilliseconds);
    }

    it('removes and counts an expired device after 30 days, and keeps valid devices', async () => {
      const [living, expired] = [await register('1'), await register('2')];
      await expire(expired);
      await pass(expiredRetentionMilliseconds);
      expect(await ids()).toEqual([living, expired]);
      await pass(3_600_000);
      expect(await ids()).toEqual([living]);
      expect(await removed()).toMatchObject({ 'expired-relay-device': 1 });
    });

    it('removes a device within a week after 90 days without registration, and keeps renewed devices', async () => {
      const [renewed] = [await register('1'), await register('2')];
      await passWeeks(8);
      await relay.database.write(({ db }) =>
        db
          .updateTable('relay_devices')
          .set({ registered_at: relay.time.now })
          .where('id', '=', renewed)
          .execute(),
      );
      await passWeeks(4);
      expect(await ids()).toHaveLength(2);
      await passWeeks(1);
      expect(await ids()).toEqual([renewed]);
      expect(await removed()).toMatchObject({ 'unrenewed-relay-device': 1 });
    });

    it('removes no unrenewed device for a week after downtime or a clock change', async () => {
      await register('1');
      await pass(500 * dayMilliseconds);
      await pass(6 * dayMilliseconds);
      expect(await ids()).toHaveLength(1);
      await pass(dayMilliseconds);
      expect(await ids()).toEqual([]);
    });

    it('keeps a device of the newer generation, because its server does not renew it', async () => {
      await register('1');
      await relay.database.write(({ db }) =>
        db.updateTable('relay_devices').set({ push_account_id: 'token:AAAAAAAAAAE=' }).execute(),
      );
      await passWeeks(14);
      expect(await ids()).toHaveLength(1);
    });

    it('removes more unrenewed devices than fit into one batch, and keeps renewed devices', async () => {
      await register('1');
      const [row] = await relay.devices();
      const { id: _id, ...copy } = row ?? { id: 0 };
      const rows = Array.from({ length: 2500 }, (_, index) => ({
        ...copy,
        token_lookup: `lookup ${index}`,
        registered_at: relay.time.now + (index % 100 === 0 ? renewalDeadlineMilliseconds : 0),
      }));
      await relay.database.write(({ db }) =>
        db
          .insertInto('relay_devices')
          .values(rows as never)
          .execute(),
      );
      await passWeeks(13);
      const left = (await relay.devices()).map(({ token_lookup }) => token_lookup);
      expect(left).toEqual(Array.from({ length: 25 }, (_, index) => `lookup ${index * 100}`));
    });

    it('keeps a device that a registration revived, with the same id', async () => {
      const id = await register('1');
      await expire(id);
      const [before] = await relay.devices();
      expect(before?.expired_at).toBe(relay.time.now);
      expect(await register('1')).toBe(id);
      const [revived] = await relay.devices();
      expect(revived?.expired_at).toBeNull();
      await pass(expiredRetentionMilliseconds + 3_600_000);
      expect(await ids()).toEqual([id]);
    });

    it('removes more devices than fit into one transaction', async () => {
      const [id] = [await register('1')];
      const [row] = await relay.devices();
      await relay.database.write(async ({ db }) => {
        for (let index = 0; index < 1200; index += 1) {
          const { id: _id, ...copy } = {
            ...row,
            token_lookup: `lookup ${index}`,
            expired_at: relay.time.now - index,
          };
          await db
            .insertInto('relay_devices')
            .values(copy as never)
            .execute();
        }
      });
      await pass(expiredRetentionMilliseconds + 3_600_000);
      expect(await ids()).toEqual([id]);
      expect(await removed()).toMatchObject({ 'expired-relay-device': 1200 });
    });

    it('deletes registrations that are too old to be presented again', async () => {
      await register('1');
      const presented = () =>
        relay.database.db.selectFrom('presented_registrations').select('hash').execute();
      expect(await presented()).toHaveLength(1);
      await pass(3 * dayMilliseconds);
      expect(await presented()).toEqual([]);
      expect(await removed()).toMatchObject({ 'presented-registration': 1 });
    });

    it('deletes quotas that are full again', async () => {
      const counted = { used_milliseconds: 60_000, counted_at: relay.time.now };
      const rows = [
        { server_id: 'idle', ...counted },
        { server_id: 'busy', ...counted, used_milliseconds: 4_000_000 },
      ];
      await relay.database.write(({ db }) => db.insertInto('server_quotas').values(rows).execute());
      await pass(3_600_000);
      const left = await relay.database.db.selectFrom('server_quotas').select('server_id').execute();
      expect(left).toEqual([{ server_id: 'busy' }]);
      expect(await removed()).toMatchObject({ 'full-server-quota': 1 });
    });

    it('deletes expired invitations', async () => {
      const { now } = relay.time;
      const expiries = { expired: now + 3_600_000, valid: now + 3_600_001 };
      const rows = Object.entries(expiries).map(([code_hash, expires_at]) => ({
        code_hash,
        name: '',
        hostname: null,
        server_id: null,
        created_at: now,
        expires_at,
      }));
      await relay.database.write(({ db }) => db.insertInto('server_invitations').values(rows).execute());
      await pass(3_600_000);
      const left = await relay.database.db.selectFrom('server_invitations').select('code_hash').execute();
      expect(left).toEqual([{ code_hash: 'valid' }]);
      expect(await removed()).toMatchObject({ 'server-invitation': 1 });
    });

    it('deletes server activity older than a day, except the last hour of each existing server', async () => {
      const hour = Math.floor(relay.time.now / 3_600_000);
      const counts = { sent: 1, gone: 0, rejected: 0, last_seen_at: 1 };
      const { serverId } = relay.server;
      const hours = {
        [serverId]: [hour - 30, hour - 40],
        [relay.otherServer.serverId]: [hour - 40, hour],
        x: [hour - 40],
      };
      const rows = Object.entries(hours).flatMap(([server_id, all]) =>
        all.map((each) => ({ ...counts, server_id, hour: each })),
      );
      await relay.database.write(({ db }) => db.insertInto('server_activity').values(rows).execute());
      await pass(3_600_000);
      const left = await relay.database.db
        .selectFrom('server_activity')
        .select('hour')
        .orderBy('hour')
        .execute();
      expect(left).toEqual([{ hour: hour - 30 }, { hour }]);
      expect(await removed()).toMatchObject({ 'server-activity': 3 });
    });

    it('deletes old key usage counts, except for the last day of each key', async () => {
      const today = Math.floor(relay.time.now / dayMilliseconds);
      const uses = [
        ['old', today - 300],
        ['old', today - 200],
        ['new', today - 200],
        ['new', today - 10],
      ] as const;
      await relay.database.write(async ({ db }) => {
        for (const [public_key, day] of uses) {
          const use = { public_key, day, slot: 0, registrations: 5, last_used_at: day * dayMilliseconds };
          await db.insertInto('bouncer_key_uses').values(use).execute();
        }
      });
      await pass(dayMilliseconds);
      const left = await relay.database.db
        .selectFrom('bouncer_key_uses')
        .select(['public_key', 'day'])
        .where('public_key', 'in', ['old', 'new'])
        .orderBy('day')
        .execute();
      expect(left).toEqual([
        { public_key: 'old', day: today - 200 },
        { public_key: 'new', day: today - 10 },
      ]);
      expect(await removed()).toMatchObject({ 'bouncer-key-use': 2 });
    });
  });
});
