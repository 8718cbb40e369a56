import { expect, it } from 'vitest';
import { newKeyRing, newTokenKey } from '#relay/keyring/ring/new-key-ring.js';
import { bindingOfToken } from '#relay/registrations/store/token-vault.js';
import { idle } from '../../../support/idle.js';
import { relayDeviceId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ringOnDisk, sodium } from '../keyring/ring-material.js';
import { fcmRequest, startDeliveriesUnderTest, until } from './deliveries-under-test.js';

const devices = 300;

eachBackend((backend) => {
  it('re-encrypts tokens with the current key while it delivers, and then rejects the older key', async () => {
    const time = { now: Date.now() };
    const clock = () => time.now;
    const made = newKeyRing(sodium, time.now);
    const key = newTokenKey(sodium, time.now + 1);
    const ring = await ringOnDisk({ ...made, tokenKeys: [...made.tokenKeys, key] }, clock);
    const tokenKeys = () => ring.keeper.look((stored) => stored.tokenKeys);
    // The clock is fixed, so the quota is never refilled and must be enough for the whole test.
    const environment = { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '1000000000' };
    const databaseUrl = await backend.freshUrl();
    const relay = await startDeliveriesUnderTest({ databaseUrl, ring, clock, environment });
    const { db } = relay.database;
    const ids = await Promise.all(
      Array.from({ length: devices }, (_, index) => relay.addFcm(`token ${index}`)),
    );
    const stored = () => db.selectFrom('relay_devices').selectAll().orderBy('id').execute();
    const [before] = await stored();
    expect(before?.token).not.toContain(key.id);

    // A scheduled run that begins before the jump of the clock and ends after it would be the last run, because the
    // clock then stops.
    await idle(relay.database.jobs);
    let isMoving = true;
    const seen: string[] = [];
    const stream = (async () => {
      while (isMoving || seen.length === 0) {
        const { status, body } = await relay.notify(ids.map((id) => fcmRequest(id)));
        expect(status).toBe(200);
        seen.push(...body.results.map(({ status, reason }) => reason ?? status));
      }
    })();
    // The relay re-encrypts tokens with a key only after every relay has used the key for a minute.
    time.now += 120_000;
    const moved = until(async () => (await tokenKeys()).length === 1);
    await Promise.all([stream, moved.finally(() => (isMoving = false))]);
    expect(new Set(seen)).toEqual(new Set(['sent']));
    expect(await tokenKeys()).toMatchObject([{ id: key.id }]);
    const rows = await stored();
    expect(rows.filter(({ token }) => !token.startsWith(`${key.id}:3:`))).toEqual([]);
    const opened = rows.map(
      (row) => [row.id, relay.tokenVault.open(row.token, bindingOfToken(row))] as const,
    );
    expect(new Map(opened)).toEqual(new Map(ids.map((id, index) => [id, `token ${index}`])));
    const [first = relayDeviceId(0), second] = ids;
    await db.updateTable('relay_devices').set({ token: before?.token }).where('id', '=', first).execute();
    const { body } = await relay.notify([fcmRequest(first), fcmRequest(Number(second))]);
    expect(body.results).toMatchObject([{ reason: 'UNKNOWN_TOKEN_KEY' }, { status: 'sent' }]);
    await relay.close();
  });
});
