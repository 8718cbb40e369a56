import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { RelayDeviceId } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ringOnDisk } from '../keyring/ring-material.js';
import {
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

let relay: DeliveriesUnderTest;
afterEach(() => relay.close());

async function storeToken(id: RelayDeviceId, token: string): Promise<void> {
  await relay.database.db.updateTable('relay_devices').set({ token }).where('id', '=', id).execute();
}

describe('a stored token that cannot be read', () => {
  let ids: RelayDeviceId[];
  beforeEach(async () => {
    relay = await startDeliveriesUnderTest();
    ids = [await relay.addFcm('one'), await relay.addFcm('two'), await relay.addFcm('three')];
  });

  const notifyAll = async () => (await relay.notify(ids.map((id) => fcmRequest(id)))).body;
  const refused = { status: 'rejected', reason: 'UNREADABLE_TOKEN', fault: 'relay' };

  it('fails only the notifications for its own device, and does not count as dead', async () => {
    const { token } = await relay.device(ids[1] as RelayDeviceId);
    await storeToken(ids[1] as RelayDeviceId, `${token.slice(0, -8)}AAAAAAAA`);
    const answer = await notifyAll();
    expect(answer.results).toEqual([{ status: 'sent' }, refused, { status: 'sent' }]);
    expect(answer.delete_device_ids).toEqual([]);
    expect(await relay.device(ids[1] as RelayDeviceId)).toMatchObject({ expired_at: null });
    await storeToken(ids[1] as RelayDeviceId, token);
    expect((await notifyAll()).results[1]).toEqual({ status: 'sent' });
    expect(await relay.arrived('two')).toHaveLength(1);
  });

  it('may be a copy from the row of another device, even right after a delivery to that device', async () => {
    await notifyAll();
    await storeToken(ids[1] as RelayDeviceId, (await relay.device(ids[0] as RelayDeviceId)).token);
    expect((await notifyAll()).results).toEqual([{ status: 'sent' }, refused, { status: 'sent' }]);
    expect(await relay.arrived('one')).toHaveLength(2);
  });

  it('is logged once, and reported in readiness and metrics until it is readable again', async () => {
    const { token } = await relay.device(ids[1] as RelayDeviceId);
    await storeToken(ids[1] as RelayDeviceId, 'nonsense');
    await notifyAll();
    await notifyAll();
    const errors = relay.log.lines().filter(({ level }) => level === 50 || level === 'error');
    expect(errors).toEqual([expect.objectContaining({ device: ids[1], reason: 'UNREADABLE_TOKEN' })]);
    const { ready, checks } = await relay.ready();
    expect([ready, checks.keys]).toEqual([
      true,
      expect.stringContaining('cannot open 1 of the checked stored tokens'),
    ]);
    const text = await relay.metrics.text();
    expect(text).toContain('waxwing_unreadable_tokens 1');
    expect(text).toContain('{vendor="fcm",outcome="rejected",reason="UNREADABLE_TOKEN"} 2');
    await storeToken(ids[1] as RelayDeviceId, token);
    expect((await relay.ready()).ready).toBe(true);
    expect(await relay.metrics.text()).toContain('waxwing_unreadable_tokens 0');
    await storeToken(ids[1] as RelayDeviceId, 'nonsense');
    await notifyAll();
    expect(relay.log.text().split('the key ring cannot open a stored token')).toHaveLength(3);
  });

  it('does not affect repeats of sent notifications or dead devices', async () => {
    const again = [fcmRequest(ids[0] as RelayDeviceId, { notification_id: randomUUID() })];
    await relay.notify(again);
    for (const id of ids) await storeToken(id, 'nonsense');
    expect((await relay.notify(again)).body.results).toMatchObject([{ status: 'sent' }]);
    await relay.database.db.updateTable('relay_devices').set({ expired_at: 1 }).execute();
    expect((await notifyAll()).delete_device_ids).toEqual(ids);
  });
});

describe('a key ring without the key of the stored tokens', () => {
  it('leaves accepted notifications queued until the key is restored', async () => {
    relay = await startDeliveriesUnderTest();
    const id = await relay.addFcm('patient');
    await relay.faults([{ vendor: 'fcm', status: 503 }]);
    const notificationId = randomUUID();
    const asked = [fcmRequest(id, { notification_id: notificationId })];
    expect((await relay.notify(asked)).body.results).toMatchObject([{ status: 'queued' }]);
    const { dir, ring, authorization } = relay;
    const { tokenKeys } = (await ring.keeper.read()).ring;
    await relay.close({ keepData: true });

    const other = await ringOnDisk(undefined, Date.now);
    relay = await startDeliveriesUnderTest({ dir, ring: other });
    const receipts = async () => {
      const url = `/api/v1/remotes/push/e2ee/receipts?ids=${notificationId}`;
      const answer = await relay.app.inject({ method: 'GET', url, headers: { authorization } });
      return answer.json().receipts[0] as { status: string; reason?: string };
    };
    await until(async () => (await receipts()).reason === 'UNKNOWN_TOKEN_KEY');
    expect((await receipts()).status).toBe('queued');
    const { body } = await relay.notify([fcmRequest(id)], { authorization });
    expect(body.results).toEqual([{ status: 'rejected', reason: 'UNKNOWN_TOKEN_KEY', fault: 'relay' }]);
    const state = await relay.ready();
    expect(state.ready).toBe(false);
    expect(state.checks.keys).toContain(`does not have their token keys ${tokenKeys[0]?.id}`);
    await other.keeper.change((wrong) => ({ ...wrong, tokenKeys }), { actor: 'test', action: 'restore' });
    await until(async () => (await receipts()).status === 'sent');
    expect((await relay.ready()).ready).toBe(true);
    rmSync(ring.folder, { recursive: true });
  });
});
