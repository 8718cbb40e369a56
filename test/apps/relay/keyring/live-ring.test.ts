import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '@waxwing/service/config';
import { generateX25519Identity } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { primaryKey } from '#relay/keyring/key-ring.js';
import { retire, rotate } from '#relay/keyring/key-ring-transitions.js';
import { readKeyUses, usesSince } from '#relay/keyring/key-uses.js';
import { keysReadiness } from '#relay/keyring/keys-readiness.js';
import { SteadyClock } from '#relay/keyring/steady-clock.js';
import { eachBackend } from '../../../support/test-databases.js';
import { keeperOf, liveRing, makeRing, type SharedWorld, sharedWorld } from './live-ring-under-test.js';
import { day, freshFolder, privateTexts, sodium, startedAt } from './ring-material.js';

const change = { actor: 'test', action: 'test' };
const closers: (() => Promise<void>)[] = [];
/** A ring is looked at when a test says so, and not every second besides. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  vi.useRealTimers();
});

async function open(world: SharedWorld) {
  const live = await liveRing(world);
  closers.push(() => live.close());
  return live;
}

function rotateOnce({ time, configuration }: SharedWorld) {
  const context = {
    now: time.now,
    policy: configuration.policy,
    makeKeyPair: () => sodium.generateKeyPair(),
  };
  return (ring: Parameters<typeof rotate>[0]) => rotate(ring, context);
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
    it('opens what is sealed to any of its keys, by their exact text alone', async () => {
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

    it('takes over what another process changed, at the next look', async () => {
      const here = await world(place);
      const { keyRing } = await open(here);
      const before = keyRing.primaryPublicKey();
      await keeperOf(here).change(rotateOnce(here), change);
      expect(keyRing.primaryPublicKey()).toBe(before);
      await keyRing.refresh();
      expect(keyRing.primaryPublicKey()).not.toBe(before);
      expect(keyRing.find(before)).toBeDefined();
    });

    it('learns at once of a key that it does not know, however often keys are made elsewhere', async () => {
      const here = await world(place);
      const { keyRing } = await open(here);
      for (let rotation = 0; rotation < 3; rotation += 1) {
        const looking = keyRing.refresh();
        const { ring } = await keeperOf(here).change(rotateOnce(here), change);
        await Promise.all([keyRing.takeOver(), keyRing.takeOver(), looking]);
        expect(keyRing.find(primaryKey(ring).publicKey)).toBeDefined();
      }
    });

    it('is rotated by exactly one of several relays when its time has come, and all serve the same bytes', async () => {
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

    it('accepts a key until its date, then refuses it and destroys its private half everywhere', async () => {
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

    it('signs its list again before it ends, and not before half of its time', async () => {
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
    it('is written once for a transaction, so that no two of them wait for each other', async () => {
      const here = await world('file');
      const { keyRing } = await open(here);
      const key = keyRing.primaryPublicKey();
      await here.database.write(async (transaction) => {
        for (let round = 0; round < 20; round += 1) {
          for (const each of [key, 'another']) keyRing.keyUsed(transaction, each, 1, startedAt + round);
        }
      });
      const rows = await here.database.db.selectFrom('bouncer_key_uses').selectAll().execute();
      expect(rows.map(({ registrations, last_used_at }) => [registrations, last_used_at])).toEqual([
        [20, startedAt + 19],
        [20, startedAt + 19],
      ]);
      expect(rows[0]?.slot).toBe(rows[1]?.slot);
    });

    it('is counted per day in the transaction of the registrations, and not when that is undone', async () => {
      const here = await world('file');
      const { keyRing } = await open(here);
      const key = keyRing.primaryPublicKey();
      const use = (count: number, now: number, fail = false) =>
        here.database.write(async (transaction) => {
          keyRing.keyUsed(transaction, key, count, now);
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

async function running() {
  const folder = freshFolder();
  await writePrivateFile(join(folder, 'identity'), `${await generateX25519Identity()}\n`);
  const here = await sharedWorld(
    { folder, time: { now: startedAt } },
    `sqlite:${join(folder, 'relay.sqlite')}`,
  );
  closers.push(() => here.database.close());
  await makeRing(here);
  return { here, path: join(folder, 'ring.age'), live: await open(here) };
}

describe('a ring that is spoilt while the relay runs', () => {
  it('stays in use as it was, and the log says so at once and then every minute', async () => {
    const { here, path, live } = await running();
    const good = readFileSync(path, 'utf8');
    const key = live.keyRing.primaryPublicKey();
    writeFileSync(path, 'rubbish');
    const complaints = () => live.log.lines().filter(({ level }) => level === 'error');
    await live.keyRing.refresh();
    await live.keyRing.refresh();
    expect(complaints()).toHaveLength(1);
    expect(complaints()[0]?.msg).toContain('the key ring in use is not the one that is stored');
    expect(live.keyRing.find(key)).toBeDefined();
    expect(live.keyRing.describe().problem).toContain('restore the ring from a backup');
    here.time.now += 60_000;
    await live.keyRing.refresh();
    expect(complaints()).toHaveLength(2);
    writeFileSync(path, good);
    await live.keyRing.refresh();
    expect(live.keyRing.describe().problem).toBeUndefined();
    await keeperOf(here).change(rotateOnce(here), change);
    await live.keyRing.refresh();
    expect(live.keyRing.primaryPublicKey()).not.toBe(key);
  });

  it('is tried again after ten seconds, since a passphrase takes a second of work, unless it is another one', async () => {
    const { here, path, live } = await running();
    const key = live.keyRing.primaryPublicKey();
    await keeperOf(here).change(rotateOnce(here), change);
    const identityPath = here.configuration.unlock.path;
    const identity = readFileSync(identityPath, 'utf8');
    writeFileSync(identityPath, `${await generateX25519Identity()}\n`);
    await live.keyRing.refresh();
    writeFileSync(identityPath, identity);
    here.time.now += 9999;
    await live.keyRing.refresh();
    expect(live.keyRing.primaryPublicKey()).toBe(key);
    expect(live.keyRing.describe().problem).toContain('cannot be decrypted');
    here.time.now += 1;
    await live.keyRing.refresh();
    expect(live.keyRing.primaryPublicKey()).not.toBe(key);
    expect(live.keyRing.describe().problem).toBeUndefined();
    const good = readFileSync(path, 'utf8');
    for (const stored of ['rubbish', good]) {
      writeFileSync(path, stored);
      await live.keyRing.refresh();
    }
    expect(live.keyRing.describe().problem).toBeUndefined();
  });

  it('is looked at for readiness once a second at most', async () => {
    const { here, path, live } = await running();
    expect(await live.keyRing.storedProblem()).toBeUndefined();
    writeFileSync(path, 'rubbish');
    here.time.now += 999;
    expect(await live.keyRing.storedProblem()).toBeUndefined();
    here.time.now += 1;
    expect(await live.keyRing.storedProblem()).toContain('restore the ring from a backup');
  });

  it('is told together with whatever else is wrong with the keys', async () => {
    const ring = (problem?: string) => ({
      storedProblem: async () => problem,
      openingProblem: () => undefined,
    });
    const other = async () => 'tokens do not open.';
    const well = async () => undefined;
    expect(await keysReadiness(ring(), [well])()).toBeUndefined();
    expect(await keysReadiness(ring(), [well, other])()).toBe('tokens do not open.');
    expect(await keysReadiness(ring('the ring is gone.'), [other])()).toBe(
      'the ring is gone. tokens do not open.',
    );
  });

  it('is followed again when it comes back from being gone', async () => {
    const { path, live } = await running();
    const good = readFileSync(path);
    const { unlinkSync } = await import('node:fs');
    unlinkSync(path);
    await live.keyRing.refresh();
    expect(live.keyRing.describe().problem).toContain('is gone');
    await writePrivateFile(path, good);
    await live.keyRing.refresh();
    expect(live.keyRing.describe().problem).toBeUndefined();
  });

  it('signs its list again when an older ring is restored, running or not, so that phones still follow it', async () => {
    const { here, path, live } = await running();
    const backup = readFileSync(path);
    here.time.now += 1000;
    await keeperOf(here).change(rotateOnce(here), change);
    await live.keyRing.refresh();
    const seen = live.keyRing.publishedKeyList().sequence;
    here.time.now += 1000;
    await writePrivateFile(path, backup);
    await live.keyRing.refresh();
    expect(live.keyRing.publishedKeyList().sequence).toBeGreaterThan(seen);
    await live.close();
    here.time.now += 1000;
    await writePrivateFile(path, backup);
    const restarted = await open(here);
    expect(restarted.keyRing.publishedKeyList().sequence).toBeGreaterThan(seen);
  });

  it('refuses a retired key at once, and two changes at the same moment both happen', async () => {
    const { here, live } = await running();
    const old = live.keyRing.primaryPublicKey();
    await keeperOf(here).change(rotateOnce(here), change);
    await Promise.all([
      keeperOf(here).change((ring) => retire(ring, old, here.time.now), change),
      keeperOf(here).change(rotateOnce(here), change),
    ]);
    await live.keyRing.refresh();
    expect(live.keyRing.find(old)).toBeUndefined();
    const { ring } = await keeperOf(here).read();
    expect(ring.bouncerKeys.map(({ state }) => state)).toEqual(['retired', 'accepted', 'primary']);
  });
});

describe('a clock that jumps forward', () => {
  const hour = 3_600_000;

  function clock() {
    const time = { wall: startedAt, monotonic: 0 };
    return {
      time,
      steady: new SteadyClock(
        () => time.wall,
        () => time.monotonic,
      ),
    };
  }

  it('is not believed until the jump has lasted an hour', () => {
    const { time, steady } = clock();
    time.wall += 1000 * day;
    expect(steady.now()).toBe(startedAt);
    expect(steady.doubtedMilliseconds).toBe(1000 * day);
    time.wall += hour - 1;
    time.monotonic += hour - 1;
    expect(steady.now()).toBe(startedAt + hour - 1);
    time.wall += 1;
    time.monotonic += 1;
    expect(steady.now()).toBe(time.wall);
    expect(steady.doubtedMilliseconds).toBe(0);
  });

  it('costs nothing when it is put right within the hour', () => {
    const { time, steady } = clock();
    time.wall += 1000 * day;
    steady.now();
    time.wall = startedAt + 60_000;
    time.monotonic = 60_000;
    expect(steady.now()).toBe(time.wall);
    expect(steady.doubtedMilliseconds).toBe(0);
  });

  it('is believed at once when it goes back, or forward by little', () => {
    const { time, steady } = clock();
    time.wall -= 30 * day;
    expect(steady.now()).toBe(time.wall);
    time.wall += hour;
    expect(steady.now()).toBe(time.wall);
  });

  it('retires no key meanwhile', async () => {
    const { here } = await running();
    const old = primaryKey((await keeperOf(here).read()).ring).publicKey;
    await keeperOf(here).change(rotateOnce(here), change);
    const monotonic = { now: 0 };
    const live = await liveRing(here, () => monotonic.now);
    closers.push(() => live.close());
    here.time.now += 401 * day;
    await live.keyRing.refresh();
    expect(live.keyRing.find(old)).toBeDefined();
    expect(live.keyRing.describe().problem).toContain('jumped forward by 9624 hours');
    here.time.now += hour;
    monotonic.now += hour;
    await live.keyRing.refresh();
    expect(live.keyRing.find(old)).toBeUndefined();
  });
});
