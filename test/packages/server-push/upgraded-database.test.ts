import { encodeBase64 } from '@waxwing/protocol';
import { type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { forwardRegistrationJob } from '#server-push/push-devices/forward-registration.js';
import { userId as user } from '../../support/ids.js';
import { PushServer, pushSodium, tokenIdOf } from '../../support/push-server.js';
import { eachBackend } from '../../support/test-databases.js';

const ada = user(7);
const registeredAt = 1_772_999_000_000;

const { '0008-client-devices': _newer, ...olderMigrations } = serverPushMigrations.migrations;

eachBackend((backend) => {
  it('a database of the older generation keeps its phones, notifies them, and forwards what was pending', async () => {
    const url = await backend.freshUrl();
    const old = await backend.open<ServerPushTables>({
      migrations: [{ ...serverPushMigrations, migrations: olderMigrations }],
      now: () => registeredAt,
      url,
    });
    const publicKey = encodeBase64(pushSodium.generateKeyPair().publicKey);
    await old.write(async (transaction) => {
      await sql`insert into push_devices (user_id, push_account_id, generation, registration_hash, changed_at,
          registered_at, token_kind, push_public_key, relay_device_id, active_generation)
        values (${ada}, '5', 1, 'one', ${registeredAt}, ${registeredAt}, 'fcm', ${publicKey}, 11, 1)`.execute(
        transaction.db,
      );
      const { rows } = await sql<{
        id: number;
      }>`insert into push_devices (user_id, push_account_id, generation, registration_hash, changed_at,
          registered_at, pending_token_kind, pending_push_public_key, pending_bouncer_public_key,
          pending_encrypted_registration)
        values (${ada}, '6', 1, 'two', ${registeredAt}, ${registeredAt}, 'fcm', ${publicKey}, 'a bouncer key', 'sealed')
        returning id`.execute(transaction.db);
      const payload = JSON.stringify({ push_device_id: rows[0]?.id, generation: 1 });
      const giveUpAt = registeredAt + 86_400_000;
      await old.jobs.enqueue(transaction, {
        kind: forwardRegistrationJob,
        payload,
        runAt: registeredAt,
        giveUpAt,
      });
    });
    await old.close();

    const server = await PushServer.start(backend, url);
    try {
      await server.settle();
      const active = { status: 'active', error_code: null };
      expect(await server.push.pushDevicesOf(ada)).toEqual({ 5: active, 6: active });
      expect(await server.push.clientDevicesOf(ada)).toEqual({});
      await server.activeDevice(ada, 'token');
      await server.notify(ada);
      const reached = server.relay.deliveries.map(({ deviceId, tokenId }) => deviceId ?? tokenId);
      expect(reached).toEqual([11, 1, tokenIdOf('token')]);
    } finally {
      await server.close();
    }
  });
});
