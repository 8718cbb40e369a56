import { hash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { olderLevel } from '../support/announcing.js';
import { Constellation } from '../support/constellation.js';
import { publicKeyOf, seal } from '../support/noble-oracle.js';
import { type CommandName, runJsonCommand } from '../support/spawned-process.js';
import { eachPostgres, type TestBackend } from '../support/test-databases.js';

describe('moving the databases from SQLite to PostgreSQL', () => {
  eachPostgres((postgres) => {
    let world: Constellation;
    beforeEach(async () => {
      world = await Constellation.create();
    }, 120_000);
    afterEach(() => world.close());

    it('preserves every row and job, so devices keep working and pending jobs run', async () => {
      const [relay, server] = await Promise.all([world.startRelay(), world.startServer()]);
      const user = await world.addUser('ada');
      const phones = [await readyPhone('fcm-newer', undefined), await readyPhone('fcm-older', olderLevel)];
      await relay.end();
      const queue = await request<{ queue_id: string; last_event_id: number }>('POST', 'register');
      await request('POST', 'mobile_push/register', registrationOf(world, '-7'));
      const { device_id: deviceId } = await request<{ device_id: number }>('POST', 'register_client_device');
      const pending = deviceRegistrationOf(world, 'fcm-pending');
      await request('POST', 'mobile_push/register', { ...pending, device_id: String(deviceId) });
      await server.end();

      const relayDatabase = await move('waxwing-relay', world.relayEnv, 'RELAY_DATABASE', postgres);
      const serverDatabase = await move('waxwing-server', world.serverEnv, 'SERVER_DATABASE', postgres);
      await Promise.all([
        world.startRelay({ RELAY_DATABASE: relayDatabase }),
        world.startServer({ SERVER_DATABASE: serverDatabase }),
      ]);
      for (const { phone, token } of phones) {
        await phone.registrar.sendTestNotification();
        const [delivery] = await world.deliveriesTo(token);
        const body = delivery?.body as { message: { data: Record<string, string> } } | undefined;
        expect(await phone.client.open(body?.message.data ?? {})).toMatchObject({ kind: 'notification' });
      }
      const settled = async () => {
        const { queue_id, last_event_id } = queue;
        const asked = { queue_id, last_event_id: String(last_event_id), dont_block: 'true' };
        return (await request<{ events: object[] }>('GET', 'events', asked)).events;
      };
      await expect
        .poll(settled, { timeout: 20_000 })
        .toEqual(
          expect.arrayContaining([
            expect.objectContaining({ type: 'push_device', push_account_id: '-7', status: 'active' }),
            expect.objectContaining({ type: 'device', device_id: deviceId, push_token_id: pending.token_id }),
          ]),
        );

      async function readyPhone(token: string, level: number | undefined) {
        const phone = await world.phone(user, { tokenKind: 'fcm', token }, level);
        expect(await phone.registrar.sync()).toMatchObject({ code: 'active' });
        return { phone, token };
      }

      async function request<Answer>(
        method: 'GET' | 'POST',
        path: string,
        parameters: Record<string, string> = {},
      ): Promise<Answer> {
        const { status, text } = await world.request(user, method, path, parameters);
        expect([status, text]).toEqual([200, expect.any(String)]);
        return JSON.parse(text) as Answer;
      }
    }, 240_000);
  });

  async function move(
    command: CommandName,
    env: Readonly<Record<string, string>>,
    setting: string,
    postgres: TestBackend,
  ): Promise<string> {
    const url = await postgres.freshUrl();
    const file = `${(env[setting] ?? '').slice('sqlite:'.length)}.jsonl`;
    const counts = await runJsonCommand(command, ['db', 'export', '--file', file], { env });
    const moved = { env: { ...env, [setting]: url } };
    expect(await runJsonCommand(command, ['db', 'import', '--file', file], moved)).toEqual(counts);
    await expect(runJsonCommand(command, ['db', 'import', '--file', file], moved)).rejects.toThrow(
      'is not empty',
    );
    return url;
  }
});

/** Form fields of an older-generation registration, built by an independent implementation of the cryptography. */
function registrationOf(world: Constellation, pushAccountId: string): Record<string, string> {
  return {
    token_kind: 'fcm',
    push_account_id: pushAccountId,
    push_public_key: Buffer.from(publicKeyOf(randomBytes(32))).toString('base64'),
    ...sealedTokenOf(world, `fcm${pushAccountId}`),
  };
}

/** Form fields of a newer-generation registration, for a device to which the server has already assigned an id. */
function deviceRegistrationOf(world: Constellation, token: string) {
  return {
    push_key_id: '7',
    push_key: Buffer.concat([Buffer.of(0x31), randomBytes(32)]).toString('base64'),
    token_kind: 'fcm',
    token_id: hash('sha256', token, 'buffer').subarray(0, 8).toString('base64'),
    ...sealedTokenOf(world, token),
  };
}

function sealedTokenOf({ bouncerPublicKey }: Constellation, token: string) {
  const plaintext = JSON.stringify({ token_kind: 'fcm', token, timestamp: Math.floor(Date.now() / 1000) });
  const sealed = seal(Buffer.from(plaintext), Buffer.from(bouncerPublicKey, 'base64'), randomBytes(32));
  return {
    bouncer_public_key: bouncerPublicKey,
    encrypted_push_registration: Buffer.from(sealed).toString('base64'),
  };
}
