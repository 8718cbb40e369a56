import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '@waxwing/service/config';
import { generateX25519Identity } from 'age-encryption';
import { describe, expect, it } from 'vitest';
import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { KeyUseCounter } from '#relay/keyring/uses/key-use-counter.js';
import { readKeyUses, usesSince } from '#relay/keyring/uses/key-uses.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  closedAfterEach,
  keeperOf,
  liveRing,
  makeRing,
  rotateOnce,
  type SharedWorld,
  sharedWorld,
} from './live-ring-under-test.js';
import { day, freshFolder, privateTexts, sodium, startedAt } from './ring-material.js';

const change = { actor: 'test', action: 'test' };
const closers = closedAfterEach();

async function open(world: SharedWorld) {
  const live = await liveRing(world);
  closers.push(() => live.close());
  return live;
}

eachBackend((backend) => {
  async function world(place: 'file' | 'database'): Promise<SharedWorld> {
    const folder = freshFolder();
    await writePrivateFile(join(folder, 'identity'), `${await generateX25519Identity()}\n`);
    const where = place === 'database' ? ({ kind: 'database' } as const) : undefined;
    const made = await sharedWorld({ folder, time: { now: startedAt } }, await backend.freshUrl(), where);
    closers.push(() => made.database.close());
    await makeRing(made);
    return made;
  }

  describe.each(['file', 'database'] as const)('a live ring in a %s', (place) => {
    it('opens registrations sealed to any of its keys, and finds a key only by its exact text', async () => {
      const here = await world(place);
      await keeperOf(here).change(rotateOnce(here), change);
      const { keyRing } = await open(here);
      const keys = (await keeperOf(here).read()).ring.bouncerKeys;
      expect(keys).toHaveLength(2);
      for (const { publicKey } of keys) {
        const pair = keyRing.find(publicKey);
        const box = sodium.seal(new Uint8Array([1, 2, 3]), Buffer.from(publicKey, 'base64'));
        expect(pair && sodium.openSealed(box, pair)).toEqual(new Uint8Array([1, 2, 3]));
        expect(keyRing.find(publicKey.replace('=', ''))).toBeUndefined();
        expect(keyRing.find(` ${publicKey}`)).toBeUndefined();
      }
    });

    it('loads changes from another process at its next refresh', async () => {
      const here = await world(place);
      const { keyRing } = await open(here);
      const before = keyRing.primaryPublicKey();
      await keeperOf(here).change(rotateOnce(here), change);
      expect(keyRing.primaryPublicKey()).toBe(before);
      await keyRing.refresh();
      expect(keyRing.primaryPublicKey()).not.toBe(before);
      expect(keyRing.find(before)).toBeDefined();
    });

    it('finds a key that another process has just created when it takes over the stored ring', async () => {
      const here = await world(place);
      const { keyRing } = await open(here);
      for (let rotation = 0; rotation < 3; rotation += 1) {
        const looking = keyRing.refresh();
        const { ring } = await keeperOf(here).change(rotateOnce(here), change);
        await Promise.all([keyRing.takeOver(), keyRing.takeOver(), looking]);
        expect(keyRing.find(primaryKey(ring).publicKey)).toBeDefined();
      }
    });

    it('is rotated on schedule by exactly one of several relays, and all relays serve the same list', async () => {
      const here = await world(place);
      const relays = await Promise.all([open(here), open(here), open(here), open(here)]);
      here.time.now += 90 * day;
      await Promise.all(relays.map(({ keyRing }) => keyRing.refresh()));
      await Promise.all(relays.map(({ keyRing }) => keyRing.refresh()));
      const { ring } = await keeperOf(here).read();
      expect(ring.bouncerKeys.map(({ state }) => state)).toEqual(['accepted', 'primary']);
      const served = new Set(relays.map(({ keyRing }) => JSON.stringify(keyRing.publishedKeyList())));
      expect(served.size).toBe(1);
      const done = readFileSync(here.configuration.auditLog, 'utf8')
        .split('\n')
        .filter((line) => line.includes('new -> primary') && line.includes('"phase":"done"'));
      expect(done).toHaveLength(2);
    });

    it('accepts a key until its end date, then refuses it and destroys its private half in file and memory', async () => {
      const here = await world(place);
      const { ring: first } = await keeperOf(here).read();
      const old = primaryKey(first);
      const secret = privateTexts({ ...first, signingKeys: [], tokenKeys: [] });
      await keeperOf(here).change(rotateOnce(here), change);
      const { keyRing } = await open(here);
      const pair = keyRing.find(old.publicKey);
      here.time.now += 400 * day - 1;
      expect(keyRing.find(old.publicKey)).toBeDefined();
      here.time.now += 1;
      expect(keyRing.find(old.publicKey)).toBeUndefined();
      await keyRing.refresh();
      const { ring } = await keeperOf(here).read();
      expect(ring.bouncerKeys[0]).toMatchObject({ publicKey: old.publicKey, state: 'retired' });
      const now = privateTexts(ring);
      expect(secret.some((text) => now.includes(text))).toBe(false);
      expect(pair?.privateKey.every((byte) => byte === 0)).toBe(true);
    });

    it('signs its list again when half of the validity has passed', async () => {
      const here = await world(place);
      const { keyRing } = await open(here);
      const first = keyRing.publishedKeyList();
      here.time.now += 15 * day - 1;
      await keyRing.refresh();
      expect(keyRing.publishedKeyList()).toEqual(first);
      here.time.now += 1;
      await keyRing.refresh();
      expect(keyRing.publishedKeyList().sequence).toBe(here.time.now);
      expect(keyRing.publishedKeyList().expiresAt).toBe(here.time.now + 30 * day);
    });
  });

  describe('the use of a key', () => {
    it('is written once per transaction and into one slot, so that two transactions never deadlock', async () => {
      const here = await world('file');
      const keyUses = new KeyUseCounter(Math.random);
      const key = 'one';
      await here.database.write(async (transaction) => {
        for (let round = 0; round < 20; round += 1) {
          for (const each of [key, 'another']) keyUses.used(transaction, each, 1, startedAt + round);
        }
      });
      const rows = await here.database.db.selectFrom('bouncer_key_uses').selectAll().execute();
      expect(rows.map(({ registrations, last_used_at }) => [registrations, last_used_at])).toEqual([
        [20, startedAt + 19],
        [20, startedAt + 19],
      ]);
      expect(rows[0]?.slot).toBe(rows[1]?.slot);
    });

    it('is counted per day in the transaction of the registrations, and rolled back with that transaction', async () => {
      const here = await world('file');
      const keyUses = new KeyUseCounter(Math.random);
      const key = 'one';
      const use = (count: number, now: number, fail = false) =>
        here.database.write(async (transaction) => {
          keyUses.used(transaction, key, count, now);
          if (fail) throw new Error('undone');
        });
      await Promise.all(Array.from({ length: 40 }, () => use(2, startedAt + 5)));
      await use(7, startedAt + day);
      await expect(use(100, startedAt + day, true)).rejects.toThrow('undone');
      await use(1, startedAt + day - 1000);
      const counted = (await readKeyUses(here.database.db)).get(key);
      expect([...(counted?.perDay.values() ?? [])].sort()).toEqual([7, 81]);
      expect(counted?.lastUsedAt).toBe(startedAt + day);
      expect(counted && usesSince(counted, startedAt + day)).toBe(7);
    });
  });
});
