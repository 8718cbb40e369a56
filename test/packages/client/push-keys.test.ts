import { describe, expect, it } from 'vitest';
import { createUpgradedPhone, messageOf } from './upgraded-phone.js';

const day = 86_400_000;
const path = '/api/v1/mobile_push/register';

describe('Push keys', () => {
  it('open notifications in flight for 30 days after a newer key superseded them, and are then destroyed', async () => {
    const { server, registrar, client, clientDevices, row, device } = await createUpgradedPhone();
    await registrar.sync();
    const seal = (id: number) =>
      clientDevices.sealFor(device(), JSON.stringify(messageOf(id, server.url)), new Uint8Array(24).fill(id));
    const inFlight = [seal(1), seal(2)] as const;
    server.now += 30 * day;
    await registrar.sync();
    const [{ key } = { key: new Uint8Array() }] = (await row()).device?.pushKeys ?? [];
    server.now += 30 * day - 1;
    await registrar.sync();
    await expect(client.open(inFlight[0])).resolves.toMatchObject({ kind: 'notification' });
    server.now += 1;
    await registrar.sync();
    await expect(client.open(inFlight[1])).resolves.toMatchObject({ reason: 'unknown-account' });
    expect(key).toEqual(new Uint8Array(32));
  });

  it('are not superseded before the server has a newer key', async () => {
    const { server, registrar, row } = await createUpgradedPhone();
    await registrar.sync();
    server.now += 30 * day;
    server.overrides.set(path, () => Promise.reject(new TypeError('fetch failed')));
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(registrar.sync()).resolves.toMatchObject({ code: 'unreachable' });
      server.now += 40 * day;
    }
    const keys = (await row()).device?.pushKeys ?? [];
    expect(keys.map(({ supersededAt }) => supersededAt)).toEqual([undefined, undefined]);
    server.overrides.clear();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect((await row()).device?.pushKeys[0]?.supersededAt).toBe(server.now);
  });

  it('are kept for 30 days from the clock correction if their superseding time is in the future', async () => {
    const { server, knobs, registrar, row } = await createUpgradedPhone();
    await registrar.sync();
    knobs.clockErrorMilliseconds = 400 * day;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'clock-wrong' });
    expect((await row()).device?.pushKeys).toHaveLength(2);
    knobs.clockErrorMilliseconds = 0;
    await registrar.sync();
    expect((await row()).device?.pushKeys[0]?.supersededAt).toBe(server.now);
    server.now += 30 * day;
    await registrar.sync();
    expect((await row()).device?.pushKeys.map(({ supersededAt }) => supersededAt)).not.toContain(
      server.now - 30 * day,
    );
  });

  it('are kept if a restored server uses them again', async () => {
    const { server, registrar, row, device } = await createUpgradedPhone();
    await registrar.sync();
    const restored = { ...device() };
    server.now += 30 * day;
    await registrar.sync();
    server.now += 20 * day;
    Object.assign(device(), restored);
    await registrar.sync();
    const [first, second] = (await row()).device?.pushKeys ?? [];
    expect(first?.supersededAt).toBe(server.now);
    expect(device().push_key_id).toBe(second?.pushKeyId);
  });
});
