import { maximumPushDevicesPerUser } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenJobKinds } from '#server-push/client-devices/enqueue-token-forwarding.js';
import { userId as user } from '../../../support/ids.js';
import { keyGroup, PushServer, tokenGroup, tokenIdOf } from '../../../support/push-server.js';
import { eachBackend } from '../../../support/test-databases.js';

const [ada, bob] = [user(7), user(8)];
const day = 86_400_000;

eachBackend((backend) => {
  let server: PushServer;
  beforeEach(async () => {
    server = await PushServer.start(backend);
  });
  afterEach(() => server.close());

  const devices = (userId = ada) => server.push.clientDevicesOf(userId);
  const token = async (id: number, userId = ada) => (await devices(userId))[id]?.push_token_id;
  const update = (id: number, fields: object) => ({ type: 'device', op: 'update', device_id: id, ...fields });

  describe('a token that two devices have', () => {
    it('belongs to the user’s device that registered last, so that the phone gets a notification once', async () => {
      const first = await server.activeDevice(ada, 'token');
      server.now += 1;
      const second = await server.activeDevice(ada, 'token');
      expect([await token(first), await token(second)]).toEqual([null, tokenIdOf('token')]);
      expect(server.eventsOf(ada).slice(-2)).toEqual([
        update(first, { push_token_id: null }),
        update(second, { push_token_id: tokenIdOf('token'), pending_push_token_id: null }),
      ]);
      await server.notify(ada);
      expect(server.relay.deliveries).toHaveLength(1);
    });

    it('belongs to the device that registered last, even if the relay confirms that device first', async () => {
      const first = await server.activeDevice(ada, 'former');
      server.relay.isDown = true;
      await server.register(ada, first, tokenGroup('token'));
      await server.settle();
      server.relay.isDown = false;
      server.now += 1;
      const second = await server.activeDevice(ada, 'token');
      await server.pass(60_000);
      expect((await devices())[first]).toMatchObject({ push_token_id: null, pending_push_token_id: null });
      expect(await token(second)).toBe(tokenIdOf('token'));
      expect(server.relay.removed).toEqual([tokenIdOf('former')]);
    });

    it('belongs to both users of the phone, and is removed from the relay with the last user', async () => {
      const [first, second] = [
        await server.activeDevice(ada, 'token'),
        await server.activeDevice(bob, 'token'),
      ];
      expect([await token(first), await token(second, bob)]).toEqual([
        tokenIdOf('token'),
        tokenIdOf('token'),
      ]);
      await server.ask(ada, 'remove_client_device', { device_id: String(first) });
      await server.settle();
      expect(server.relay.removed).toEqual([]);
      await server.ask(bob, 'remove_client_device', { device_id: String(second) });
      await server.settle();
      expect(server.relay.removed).toEqual([tokenIdOf('token')]);
    });
  });

  describe('a token that is no longer used', () => {
    it('is removed from the relay when another token replaces it or the device is removed', async () => {
      const id = await server.activeDevice(ada, 'first');
      await server.register(ada, id, tokenGroup('second'));
      await server.settle();
      expect(server.relay.removed).toEqual([tokenIdOf('first')]);
      await server.ask(ada, 'remove_client_device', { device_id: String(id) });
      await server.notify(ada);
      expect(server.relay.removed).toEqual([tokenIdOf('first'), tokenIdOf('second')]);
      expect(server.relay.deliveries).toEqual([]);
    });

    it('is removed if the relay confirms it after its device was removed', async () => {
      const id = await server.createDevice(ada);
      server.relay.isDown = true;
      await server.register(ada, id, { ...keyGroup(1), ...tokenGroup('token') });
      await server.settle();
      server.relay.tokens.add(tokenIdOf('token'));
      await server.ask(ada, 'remove_client_device', { device_id: String(id) });
      server.relay.isDown = false;
      await server.pass(day);
      expect([...server.relay.tokens]).toEqual([]);
      expect(server.eventsOf(ada).at(-1)).toEqual({ type: 'device', op: 'remove', device_id: id });
    });

    it('stays while another device’s registration with it is pending', async () => {
      const id = await server.activeDevice(ada, 'token');
      server.relay.isDown = true;
      const other = await server.createDevice(bob);
      await server.register(bob, other, { ...keyGroup(1), ...tokenGroup('token') });
      await server.settle();
      await server.ask(ada, 'remove_client_device', { device_id: String(id) });
      await server.settle();
      server.relay.isDown = false;
      await server.pass(3_600_000);
      await server.pass(3_600_000);
      expect(server.relay.removed).toEqual([]);
      expect(await token(other, bob)).toBe(tokenIdOf('token'));
    });

    it('is removed with all devices of a deactivated user or a user with a new API key', async () => {
      const ids = [await server.activeDevice(ada, 'first'), await server.activeDevice(ada, 'second')];
      const others = await server.activeDevice(bob, 'third');
      server.events.length = 0;
      const context = {
        database: server.database,
        clock: () => server.now,
        publish: async (_: unknown, events: readonly (typeof server.events)[number][]) =>
          void server.events.push(...events),
      };
      await server.database.write((transaction) => removePushDevicesOf(context, transaction, ada));
      await server.settle();
      expect(await devices()).toEqual({});
      expect(await token(others, bob)).toBe(tokenIdOf('third'));
      expect(server.eventsOf(ada)).toEqual(
        ids.map((id) => ({ type: 'device', op: 'remove', device_id: id })),
      );
      expect([...server.relay.tokens]).toEqual([tokenIdOf('third')]);
    });
  });

  describe('a token that is not renewed', () => {
    it('ends within a week after 90 days, with an event, but its device and key stay', async () => {
      const first = await server.activeDevice(ada, 'first');
      const second = await server.activeDevice(bob, 'second');
      await server.pass(89 * day);
      await server.register(bob, second, tokenGroup('second'));
      await server.settle();
      expect(await token(first)).toBe(tokenIdOf('first'));
      server.events.length = 0;
      await server.pass(8 * day);
      expect(server.eventsOf(ada)).toEqual([update(first, { push_token_id: null })]);
      expect((await devices())[first]).toMatchObject({ push_key_id: 1, push_token_id: null });
      expect(await token(second, bob)).toBe(tokenIdOf('second'));
      await server.pass(600_000);
      expect(server.relay.removed).toEqual([tokenIdOf('first')]);
      expect(await server.metrics.text()).toContain(
        'waxwing_rows_removed_total{kind="unrenewed-push-token"} 1',
      );
    });

    it('ends even if no phone registers anymore', async () => {
      const id = await server.activeDevice(ada, 'token');
      await server.pass(98 * day);
      expect(await token(id)).toBeNull();
    });

    it('stays for a week after downtime or a clock change, and longer only if it is renewed', async () => {
      const lost = await server.activeDevice(ada, 'lost');
      const kept = await server.activeDevice(bob, 'kept');
      await server.jump(200 * day);
      await server.pass(6 * day);
      expect([await token(lost), await token(kept, bob)]).toEqual([tokenIdOf('lost'), tokenIdOf('kept')]);
      await server.register(bob, kept, tokenGroup('kept'));
      await server.pass(8 * day);
      expect([await token(lost), await token(kept, bob)]).toEqual([null, tokenIdOf('kept')]);
    });

    it('stays while its phone resends it every 30 days, with or without a key', async () => {
      const [first, second] = [
        await server.activeDevice(ada, 'first'),
        await server.activeDevice(bob, 'second'),
      ];
      for (let month = 0; month < 12; month += 1) {
        await server.pass(30 * day);
        await server.register(ada, first, tokenGroup('first'));
        await server.register(bob, second, { ...keyGroup(1), ...tokenGroup('second') });
        await server.settle();
        expect([await token(first), await token(second, bob)]).toEqual([
          tokenIdOf('first'),
          tokenIdOf('second'),
        ]);
      }
      await server.pass(89 * day);
      expect([await token(first), await token(second, bob)]).toEqual([
        tokenIdOf('first'),
        tokenIdOf('second'),
      ]);
      await server.pass(9 * day);
      expect([await token(first), await token(second, bob)]).toEqual([null, null]);
    });
  });

  describe('a registration without a job', () => {
    it('fails within 26 hours, so that the phone may register again', async () => {
      const id = await server.createDevice(ada);
      server.relay.isDown = true;
      await server.register(ada, id, { ...keyGroup(1), ...tokenGroup('token') });
      await server.settle();
      const [job] = (await server.database.jobs.list({})).filter(({ kind }) => kind === tokenJobKinds.common);
      await server.database.jobs.drop(String(job?.id));
      await server.pass(24 * 3_600_000);
      expect((await devices())[id]?.push_registration_error_code).toBeNull();
      await server.pass(2 * 3_600_000);
      expect(server.eventsOf(ada).at(-1)).toEqual(
        update(id, { push_registration_error_code: 'REQUEST_EXPIRED' }),
      );
      server.relay.isDown = false;
      expect(await server.register(ada, id, tokenGroup('token'))).toEqual({});
      await server.settle();
      expect(await token(id)).toBe(tokenIdOf('token'));
    });
  });

  describe('a user with the maximum number of devices', () => {
    const fill = async (values: object) => {
      const row = { user_id: ada, created_at: 1, used_at: 5, generation: 1, ...values };
      for (let start = 1; start < maximumPushDevicesPerUser; start += 100) {
        const rows = Array.from({ length: Math.min(100, maximumPushDevicesPerUser - start) }, () => row);
        await server.database.db.insertInto('client_devices').values(rows).execute();
      }
    };

    it('loses the device that has been without a token for the longest time', async () => {
      const unused = await server.createDevice(ada);
      await fill({ push_token_id: tokenIdOf('x'), used_at: 1 });
      const added = await server.createDevice(ada);
      const left = await devices();
      expect([Object.keys(left).length, left[unused], left[added] === undefined]).toEqual([
        maximumPushDevicesPerUser,
        undefined,
        false,
      ]);
      expect(server.eventsOf(ada).slice(-2)).toEqual([
        { type: 'device', op: 'remove', device_id: unused },
        { type: 'device', op: 'add', device_id: added },
      ]);
    });

    it('cannot add a device if all devices have a token or wait for the relay', async () => {
      await server.activeDevice(ada, 'token');
      await fill({ pending_encrypted_registration: 'sealed', pending_push_token_id: tokenIdOf('x') });
      expect(await server.ask(ada, 'register_client_device')).toBe(
        'This user has 1000 devices with push tokens, which is the maximum; removing one makes room',
      );
    });
  });
});
