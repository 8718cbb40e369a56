import type { RelayDeviceId } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import type { KeyRing } from '#relay/keyring/key-ring.js';
import { KeyRingTokenVault } from '#relay/keyring/key-ring-token-vault.js';
import { concludeTokenMove } from '#relay/keyring/key-ring-transitions.js';
import { newKeyRing } from '#relay/keyring/new-key-ring.js';
import { reencryptTokens } from '#relay/registrations/reencrypt-tokens.js';
import { relayDeviceId } from '../../../support/ids.js';
import { sealUnbound, storeByAes } from '../../../support/older-tokens.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sodium } from '../keyring/ring-material.js';
import { fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';

const devices = 300;

eachBackend((backend) => {
  it('moves tokens of both older forms to the current one, delivers meanwhile, and then refuses old ones', async () => {
    const made = newKeyRing(sodium, 0);
    const [current] = made.tokenKeys;
    if (current === undefined) throw new Error('a new ring has a token key');
    const key = { ...current, oldestForm: 1 } as const;
    let ring: KeyRing = { ...made, tokenKeys: [key] };
    const tokenVault = new KeyRingTokenVault(() => ring, Date.now, sodium);
    const relay = await startDeliveriesUnderTest({ databaseUrl: await backend.freshUrl(), tokenVault });
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
    const { signal } = new AbortController();
    await reencryptTokens({
      ...{ database: relay.database, signal, onUnreadable: expect.fail },
      keyRing: {
        tokenVault,
        concludeTokenMove: async (id) => {
          ring = concludeTokenMove(ring, id);
        },
      },
    });
    isMoving = false;
    await stream;
    expect(new Set(seen)).toEqual(new Set(['sent']));
    expect(ring.tokenKeys).toEqual([{ ...key, oldestForm: 3 }]);
    const rows = await db.selectFrom('relay_devices').select(['id', 'token']).execute();
    expect(rows.filter(({ token }) => !token.startsWith(`${key.id}:3:`))).toEqual([]);
    const [first = relayDeviceId(0), second] = ids;
    await store(first, sealUnbound('token 1', key));
    const { body } = await relay.notify([fcmRequest(first), fcmRequest(Number(second))]);
    expect(body.results).toMatchObject([{ reason: 'UNREADABLE_TOKEN' }, { status: 'sent' }]);
    await relay.close();
  });
});
