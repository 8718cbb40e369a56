import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '@waxwing/service/config';
import { generateX25519Identity } from 'age-encryption';
import { describe, expect, it } from 'vitest';
import { SteadyClock } from '#relay/keyring/clock/steady-clock.js';
import { keysReadiness } from '#relay/keyring/live/keys-readiness.js';
import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { retire } from '#relay/keyring/ring/key-ring-transitions.js';
import {
  closedAfterEach,
  keeperOf,
  liveRing,
  rotateOnce,
  type SharedWorld,
  worldOnDisk,
} from './live-ring-under-test.js';
import { day, startedAt } from './ring-material.js';

const change = { actor: 'test', action: 'test' };
const closers = closedAfterEach();

async function open(world: SharedWorld) {
  const live = await liveRing(world);
  closers.push(() => live.close());
  return live;
}

async function running() {
  const here = await worldOnDisk(closers);
  return { here, path: join(here.folder, 'ring.age'), live: await open(here) };
}

describe('the ring file of a running relay', () => {
  it('does not replace the ring in use while it is invalid; the failure and the repair are each logged once', async () => {
    const { here, path, live } = await running();
    const good = readFileSync(path, 'utf8');
    const key = live.keyRing.primaryPublicKey();
    writeFileSync(path, 'rubbish');
    const complaints = () => live.log.lines().filter(({ level }) => level === 'error');
    await live.keyRing.refresh();
    await live.keyRing.refresh();
    expect(complaints()).toHaveLength(1);
    expect(complaints()[0]?.msg).toContain('the key ring in use is not the stored one');
    expect(live.keyRing.find(key)).toBeDefined();
    expect(live.keyRing.describe().problem).toContain('restore the ring from a backup');
    here.time.now += 60_000;
    await live.keyRing.refresh();
    expect(complaints()).toHaveLength(1);
    writeFileSync(path, good);
    await live.keyRing.refresh();
    await live.keyRing.refresh();
    const ends = live.log.lines().filter(({ msg }) => msg === 'the stored key ring is in use again');
    expect(ends).toHaveLength(1);
    expect(live.keyRing.describe().problem).toBeUndefined();
    await keeperOf(here).change(rotateOnce(here), change);
    await live.keyRing.refresh();
    expect(live.keyRing.primaryPublicKey()).not.toBe(key);
  });

  it('fails the readiness check while its identity file is missing or wrong', async () => {
    const { here, live } = await running();
    const ready = keysReadiness(live.keyRing);
    const identity = join(here.folder, 'identity');
    const good = readFileSync(identity, 'utf8');
    const complaints = () => live.log.lines().filter(({ level }) => level === 'error');
    expect(await ready()).toBeUndefined();
    rmSync(identity);
    here.time.now += 10_000;
    expect(await ready()).toContain('cannot be changed, or opened at the next start');
    expect(await ready()).toContain(`${identity} (the key ring's identity) cannot be read`);
    expect(complaints()).toHaveLength(1);
    await writePrivateFile(identity, `${await generateX25519Identity()}\n`);
    here.time.now += 10_000;
    expect(await ready()).toContain('cannot be decrypted with');
    // The identity file may contain additional identities, for example before "keys rewrap".
    await writePrivateFile(identity, `${await generateX25519Identity()}\n${good}`);
    here.time.now += 10_000;
    expect(await ready()).toBeUndefined();
    expect(live.keyRing.find(live.keyRing.primaryPublicKey())).toBeDefined();
  });

  it('is decrypted again ten seconds after a failure, or at the next refresh if it has changed', async () => {
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

  it('is read at most once a second for readiness', async () => {
    const { here, path, live } = await running();
    expect(await live.keyRing.storedProblem()).toBeUndefined();
    writeFileSync(path, 'rubbish');
    here.time.now += 999;
    expect(await live.keyRing.storedProblem()).toBeUndefined();
    here.time.now += 1;
    expect(await live.keyRing.storedProblem()).toContain('restore the ring from a backup');
  });

  it('is reported together with other problems of the keys', async () => {
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

  it('is used again after it was missing and reappears', async () => {
    const { path, live } = await running();
    const good = readFileSync(path);
    const { unlinkSync } = await import('node:fs');
    unlinkSync(path);
    await live.keyRing.refresh();
    expect(live.keyRing.describe().problem).toContain('is missing');
    await writePrivateFile(path, good);
    await live.keyRing.refresh();
    expect(live.keyRing.describe().problem).toBeUndefined();
  });

  it('gets a list with a higher sequence after a restore, whether or not the relay was running', async () => {
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

  it('loses neither of two concurrent changes, and a retired key is refused after the next refresh', async () => {
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

  it('is ignored until the new time has lasted for an hour', () => {
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

  it('has no effect when it is corrected within the hour', () => {
    const { time, steady } = clock();
    time.wall += 1000 * day;
    steady.now();
    time.wall = startedAt + 60_000;
    time.monotonic = 60_000;
    expect(steady.now()).toBe(time.wall);
    expect(steady.doubtedMilliseconds).toBe(0);
  });

  it('applies immediately if the clock goes back, or forward by at most an hour', () => {
    const { time, steady } = clock();
    time.wall -= 30 * day;
    expect(steady.now()).toBe(time.wall);
    time.wall += hour;
    expect(steady.now()).toBe(time.wall);
  });

  it('retires no keys within the first hour', async () => {
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
