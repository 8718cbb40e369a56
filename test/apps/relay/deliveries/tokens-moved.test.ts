import type { RelayDeviceId } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import { newKeyRing } from '#relay/keyring/new-key-ring.js';
import { placeOfToken } from '#relay/registrations/token-vault.js';
import { relayDeviceId } from '../../../support/ids.js';
import { sealUnbound, storeByAes } from '../../../support/older-tokens.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ringOnDisk, sodium } from '../keyring/ring-material.js';
import { fcmRequest, startDeliveriesUnderTest, until } from './deliveries-under-test.js';

const devices = 300;

eachBackend((backend) => {
  it('moves tokens of both older forms to the current one, delivers meanwhile, and then refuses old ones', async () => {
    const time = { now: Date.now() };
    const clock = () => time.now;
    const made = newKeyRing(sodium, time.now);
    const [current] = made.tokenKeys;
    if (current === undefined) throw new Error('a new ring has a token key');
    // Rows are moved to a key only once every relay knows it.
    const key = { ...current, currentFrom: time.now, oldestForm: 1 } as const;
    const ring = await ringOnDisk({ ...made, tokenKeys: [key] }, clock);
    const tokenKeys = () => ring.keeper.look((stored) => stored.tokenKeys);
    const relay = await startDeliveriesUnderTest({ databaseUrl: await backend.freshUrl(), ring, clock });
    const { db } = relay.database;
    const ids = await Promise.all(
      Array.from({ length: devices }, (_, index) => relay.addFcm(`token ${index}`)),
    );
    const store = (id: RelayDeviceId, token: string) =>
      db.updateTable('relay_devices').set({ token }).where('id', '=', id).execute();
    for (const [index, id] of ids.entries()) {
      const token = `token ${index}`;
      if (index % 2 === 0) await store(id, sealUnbound(token, key));
      else await storeByAes(relay.database, id, token, key);
    }

    let isMoving = true;
    const seen: string[] = [];
    const stream = (async () => {
      while (isMoving || seen.length === 0) {
        const { body } = await relay.notify(ids.map((id) => fcmRequest(id)));
        seen.push(...body.results.map(({ status, reason }) => reason ?? status));
      }
    })();
    time.now += 120_000;
    await until(async () => (await tokenKeys())[0]?.oldestForm === 3);
    isMoving = false;
    await stream;
    expect(new Set(seen)).toEqual(new Set(['sent']));
    expect(await tokenKeys()).toMatchObject([{ id: key.id, oldestForm: 3 }]);
    const rows = await db.selectFrom('relay_devices').selectAll().execute();
    expect(rows.filter(({ token }) => !token.startsWith(`${key.id}:3:`))).toEqual([]);
    const opened = rows.map((row) => [row.id, relay.tokenVault.open(row.token, placeOfToken(row))] as const);
    expect(new Map(opened)).toEqual(new Map(ids.map((id, index) => [id, `token ${index}`])));
    const [first = relayDeviceId(0), second] = ids;
    await store(first, sealUnbound('token 1', key));
    const { body } = await relay.notify([fcmRequest(first), fcmRequest(Number(second))]);
    expect(body.results).toMatchObject([{ reason: 'UNREADABLE_TOKEN' }, { status: 'sent' }]);
    await relay.close();
  });
});
