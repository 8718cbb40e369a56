import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Constellation } from '../support/constellation.js';
import { publicKeyOf, seal } from '../support/noble-oracle.js';
import { type CommandName, runJsonCommand } from '../support/spawned-process.js';
import { eachPostgres, type TestBackend } from '../support/test-databases.js';

describe('moving from SQLite to PostgreSQL', () => {
  eachPostgres((postgres) => {
    let world: Constellation;
    beforeEach(async () => {
      world = await Constellation.create();
    }, 120_000);
    afterEach(() => world.close());

    it('moves every row and every job: devices keep working, and pending jobs run', async () => {
      const [relay, server] = await Promise.all([world.startRelay(), world.startServer()]);
      const user = await world.addUser('ada');
      const token = 'fcm-token-that-moves';
      const phone = await world.phone(user, { tokenKind: 'fcm', token });
      expect(await phone.registrar.sync()).toMatchObject({ code: 'active' });
      await relay.end();
      const queue = JSON.parse((await world.request(user, 'POST', 'register')).text) as {
        queue_id: string;
        last_event_id: number;
      };
      const waiting = registrationOf(world, '-7');
      expect((await world.request(user, 'POST', 'mobile_push/register', waiting)).status).toBe(200);
      await server.end();

      const relayDatabase = await move('waxwing-relay', world.relayEnv, 'RELAY_DATABASE', postgres);
      const serverDatabase = await move('waxwing-server', world.serverEnv, 'SERVER_DATABASE', postgres);
      await Promise.all([
        world.startRelay({ RELAY_DATABASE: relayDatabase }),
        world.startServer({ SERVER_DATABASE: serverDatabase }),
      ]);
      await phone.registrar.sendTestNotification();
      const [delivery] = await world.deliveriesTo(token);
      const body = delivery?.body as { message: { data: Record<string, string> } } | undefined;
      expect(await phone.client.open(body?.message.data ?? {})).toMatchObject({ kind: 'notification' });
      const { text } = await world.request(user, 'GET', 'events', {
        queue_id: queue.queue_id,
        last_event_id: String(queue.last_event_id),
      });
      expect(JSON.parse(text)).toMatchObject({
        events: [{ type: 'push_device', push_account_id: '-7', status: 'active' }],
      });
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

/** A registration as a peer with its own cryptography makes it. */
function registrationOf({ bouncerPublicKey }: Constellation, pushAccountId: string): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000);
  const plaintext = JSON.stringify({ token_kind: 'fcm', token: `fcm${pushAccountId}`, timestamp });
  const sealed = seal(Buffer.from(plaintext), Buffer.from(bouncerPublicKey, 'base64'), randomBytes(32));
  return {
    token_kind: 'fcm',
    push_account_id: pushAccountId,
    push_public_key: Buffer.from(publicKeyOf(randomBytes(32))).toString('base64'),
    bouncer_public_key: bouncerPublicKey,
    encrypted_push_registration: Buffer.from(sealed).toString('base64'),
  };
}
