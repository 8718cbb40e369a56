import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { relayNotifyPath } from '@waxwing/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { fcmRequest } from '../deliveries/deliveries-under-test.js';
import { realmUuid } from '../relay-under-test.js';
import { keysOf } from './key-terminal.js';
import { type RelayWithKeys, registerWith, relayWithKeys, startRelayOf } from './relay-with-keys.js';
import { sodium } from './ring-material.js';

eachBackend((backend) => {
  let here: RelayWithKeys;
  let deviceId: number;
  beforeEach(async () => {
    here = await relayWithKeys({ RELAY_DATABASE: await backend.freshUrl() });
    const [key] = await keysOf(here.terminal);
    const { body } = await registerWith(here, key?.public_key ?? '', 'a token');
    deviceId = body.device_id as number;
    await here.relay.close();
    rmSync(join(here.terminal.folder, 'ring.age'));
  });
  afterEach(() => here.relay.close());

  async function notify() {
    const response = await fetch(here.relay.url + relayNotifyPath, {
      method: 'POST',
      headers: { authorization: here.authorization, 'content-type': 'application/json' },
      body: JSON.stringify(
        { realm_uuid: realmUuid, push_requests: [fcmRequest(deviceId)] },
        (_name, value) => (typeof value === 'bigint' ? 7 : value),
      ),
    });
    return { status: response.status, ...((await response.json()) as { results: object[] }) };
  }

  async function readiness() {
    // Uses the metrics port, because the public port does not report why the relay is not ready.
    const response = await fetch(new URL('/health/ready', here.relay.metricsUrl));
    const { checks } = (await response.json()) as { checks: { keys: string } };
    return [response.status, checks.keys] as const;
  }

  it('a ring that could not open the tokens of stored devices is created only with --yes-lose-devices', async () => {
    const { terminal } = here;
    expect((await terminal.run('init')).error).toContain("The relay's database contains devices");
    expect((await terminal.run('init', '--dry-run')).error).toContain('--yes-lose-devices');
    const { publicKey, privateKey } = sodium.generateKeyPair();
    const stock = join(terminal.folder, 'stock.json');
    const [name, value] = [publicKey, privateKey].map((key) => Buffer.from(key).toString('base64'));
    writeFileSync(stock, JSON.stringify({ [name as string]: value }), { mode: 0o600 });
    expect((await terminal.run('import', stock)).error).toContain("The relay's database contains devices");
    expect((await terminal.run('init', '--yes-lose-devices')).error).toBeUndefined();
    expect(await keysOf(terminal)).toHaveLength(1);
  });

  it('a ring without the key of a stored token is reported, and only affected deliveries fail', async () => {
    const { terminal } = here;
    await terminal.json('init', '--yes-lose-devices');
    Object.assign(here, await startRelayOf(terminal));
    expect(here.log.text()).toContain('the key ring cannot open a stored token');
    expect(await readiness()).toEqual([
      503,
      expect.stringMatching(/does not have their token keys [0-9a-f]{8}\b/),
    ]);
    expect(await notify()).toMatchObject({
      status: 200,
      results: [{ status: 'rejected', reason: 'UNKNOWN_TOKEN_KEY', fault: 'relay' }],
      delete_device_ids: [],
    });

    expect(await terminal.json('remove-unreadable', '--dry-run')).toMatchObject({
      unreadable: 1,
      removed: 0,
    });
    expect((await terminal.run('remove-unreadable')).error).toContain('1 of 1 devices have a token that');
    expect((await notify()).results).toMatchObject([{ reason: 'UNKNOWN_TOKEN_KEY' }]);
    const [key] = await keysOf(terminal);
    const again = await registerWith(here, key?.public_key ?? '', 'a token');
    expect(again.body.device_id).not.toBe(deviceId);
    const removed = await terminal.json('remove-unreadable', '--yes');
    expect(removed).toEqual({ unreadable: 1, looked_at: 2, dry_run: false, removed: 1 });
    expect(await notify()).toMatchObject({ status: 200, delete_device_ids: [deviceId] });
    expect((await readiness())[1]).toBe('ok');
  });
});
