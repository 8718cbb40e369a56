import { chmodSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { keyListPath } from '@waxwing/protocol';
import { relayAdminOperations } from '@waxwing/relay';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createKeyRingKeeper } from '#relay/keyring/open-key-ring.js';
import { rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { readKeyRingEnvironmentAlone } from '#relay/keyring/storage/key-ring-configuration.js';
import { withDatabase } from './key-terminal.js';
import {
  fetchKeyList,
  followedKey,
  listedKeys,
  type RelayWithKeys,
  registerWith,
  relayWithKeys,
} from './relay-with-keys.js';
import { day, sodium } from './ring-material.js';

let here: RelayWithKeys;
beforeEach(async () => {
  here = await relayWithKeys();
});
afterEach(async () => {
  vi.useRealTimers();
  await here.relay.close();
});

describe('the published key list', () => {
  it('can be verified with the pinned key, and has the same bytes for all clients', async () => {
    const [{ public_key } = { public_key: '' }] = await listedKeys(here.terminal);
    expect(await followedKey(here)).toBe(public_key);
    expect(await fetchKeyList(here.relay.url)).toEqual(await fetchKeyList(here.relay.url));
  });

  it('is cacheable, and a client that already has it gets 304', async () => {
    const url = here.relay.url + keyListPath;
    const first = await fetch(url);
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('public, max-age=60');
    expect(first.headers.get('content-type')).toContain('application/json');
    for (const known of [etag, `"1", W/${etag}`, '*']) {
      const again = await fetch(url, { headers: { 'if-none-match': known } });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
      // A cache would apply these headers to its stored response (RFC 9111 section 3.2).
      expect([again.headers.get('content-type'), again.headers.get('content-length')]).toEqual([null, null]);
    }
    await here.terminal.run('rotate');
    const changed = await fetch(url, { headers: { 'if-none-match': etag } });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  it('has the documented fields, in Unix seconds', async () => {
    await here.terminal.run('rotate');
    const { key_list } = await fetchKeyList(here.relay.url);
    const list = JSON.parse(Buffer.from(key_list, 'base64').toString('utf8'));
    const [old, primary] = await listedKeys(here.terminal);
    const now = here.terminal.now / 1000;
    expect(list).toEqual({
      version: 1,
      // The third list: `init` issued the first list, and the relay's start issued the second.
      sequence: here.terminal.now + 2,
      issued_at: now,
      expires_at: now + 30 * 86_400,
      keys: [
        {
          public_key: old?.public_key,
          state: 'accepted',
          created_at: now,
          accepted_until: now + 400 * 86_400,
        },
        { public_key: primary?.public_key, state: 'primary', created_at: now, accepted_until: null },
      ],
      revoked: [],
      signing_keys: [{ public_key: here.pinned, endorsement: null }],
    });
  });
});

describe('a command beside the running relay', () => {
  it('takes effect before it exits, through a socket with mode 0600', async () => {
    const before = await followedKey(here);
    expect(await here.terminal.json('rotate')).toMatchObject({ changed: true });
    expect(await followedKey(here)).not.toBe(before);
    expect(statSync(join(here.terminal.folder, 'ring.age.sock')).mode & 0o777).toBe(0o600);
    const audit = readFileSync(join(here.terminal.folder, 'ring.age.audit.jsonl'), 'utf8');
    expect(audit).toContain('"action":"rotate","changes":["bouncer key');
  });

  it('does not need the identity file, because the relay has the key ring open', async () => {
    renameSync(join(here.terminal.folder, 'identity'), join(here.terminal.folder, 'away'));
    const { error } = await here.terminal.run('list');
    expect(error).toContain('identity');
    renameSync(join(here.terminal.folder, 'away'), join(here.terminal.folder, 'identity'));
    here.terminal.environment.RELAY_KEY_RING_IDENTITY_FILE = join(here.terminal.folder, 'nowhere');
    expect(await listedKeys(here.terminal)).toHaveLength(1);
  });

  it('gets the same refusals from the running relay as without a relay', async () => {
    const [primary] = await listedKeys(here.terminal);
    const { error } = await here.terminal.run('retire', primary?.id ?? '', '--yes');
    expect(error).toContain('is the primary key: rotate first');
  });

  it('uses operations that no TCP listener serves', async () => {
    for (const { method, path } of relayAdminOperations) {
      for (const url of [here.relay.url, new URL(here.relay.metricsUrl ?? '').origin]) {
        const answer = await fetch(url + path, { method, headers: { 'waxwing-operator': 'test' } });
        expect([path, answer.status]).toEqual([path, 404]);
      }
    }
    expect(await listedKeys(here.terminal)).toHaveLength(1);
  });

  it('is counted in the same metrics as requests to the public listener', async () => {
    await here.terminal.json('rotate');
    const metrics = await (await fetch(here.relay.metricsUrl ?? '')).text();
    expect(metrics).toContain('operation="POST /admin/api/keys/rotate",status="200"');
    expect(metrics).toMatch(/^waxwing_http_requests_in_flight 0$/m);
  });

  it('works directly on the ring after the relay has stopped, even if a socket file is left', async () => {
    await here.relay.close();
    const path = join(here.terminal.folder, 'ring.age.sock');
    expect(existsSync(path)).toBe(false);
    expect(await here.terminal.json('rotate')).toMatchObject({ changed: true });
    const abandoned = createServer();
    await new Promise<void>((resolve) => abandoned.listen(`${path}.other`, resolve));
    renameSync(`${path}.other`, path);
    chmodSync(path, 0o600);
    await new Promise((resolve) => abandoned.close(resolve));
    expect(existsSync(path)).toBe(true);
    expect(await here.terminal.json('rotate')).toMatchObject({ changed: true });
  });

  it('that changes the ring without the relay takes effect within two seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const watched = await relayWithKeys();
    const before = await followedKey(watched);
    const configuration = readKeyRingEnvironmentAlone(watched.terminal.environment);
    await withDatabase(watched.terminal, async (database) => {
      const clock = () => watched.terminal.now;
      const keeper = createKeyRingKeeper(configuration, { sodium, clock, database });
      const makeKeyPair = () => sodium.generateKeyPair();
      const { policy } = configuration;
      await keeper.change((ring) => rotate(ring, { now: clock(), policy, makeKeyPair }), {
        actor: 'test',
        action: 'rotate',
      });
    });
    vi.advanceTimersByTime(2000);
    await expect.poll(() => followedKey(watched)).not.toBe(before);
    await watched.relay.close();
  });
});

describe('three rotations under a stream of registrations', () => {
  it('cause no failures for phones that follow the list', async () => {
    let streaming = true;
    const statuses: number[] = [];
    const stream = async (phone: number) => {
      for (let sent = 0; streaming; sent += 1) {
        const key = await followedKey(here);
        const { status } = await registerWith(here, key, `token ${phone} ${sent}`);
        statuses.push(status);
      }
    };
    const streams = Promise.all([1, 2, 3, 4].map(stream));
    for (let rotation = 0; rotation < 3; rotation += 1) {
      const before = statuses.length;
      await expect.poll(() => statuses.length).toBeGreaterThan(before + 20);
      here.terminal.now += 5;
      expect(await here.terminal.json('rotate')).toMatchObject({ changed: true });
    }
    const before = statuses.length;
    await expect.poll(() => statuses.length).toBeGreaterThan(before + 20);
    streaming = false;
    await streams;
    expect(new Set(statuses)).toEqual(new Set([200]));
    const keys = await listedKeys(here.terminal);
    expect(keys.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'accepted', 'primary']);
    const used = keys.map(({ registrations_per_day: days }) => days.at(-1) ?? 0);
    expect(used.reduce((sum, count) => sum + count)).toBe(statuses.length);
    expect(Math.min(...used)).toBeGreaterThan(0);
  });

  it('keep the built-in key of an old phone working until its end date, and then refuse it', async () => {
    const builtIn = await followedKey(here);
    for (let rotation = 0; rotation < 3; rotation += 1) {
      await here.terminal.run('rotate');
      expect((await registerWith(here, builtIn, 'old phone')).status).toBe(200);
    }
    here.terminal.now += 400 * day - 1000;
    expect((await registerWith(here, builtIn, 'old phone')).status).toBe(200);
    here.terminal.now += 1000;
    expect(await registerWith(here, builtIn, 'old phone')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_BOUNCER_PUBLIC_KEY' },
    });
    expect((await registerWith(here, await followedKey(here), 'old phone')).status).toBe(200);
  });
});

describe('the token key', () => {
  it('is replaced row by row, devices keep their ids, and the old key is destroyed', async () => {
    const { terminal } = here;
    const key = await followedKey(here);
    const first = await registerWith(here, key, 'token A');
    const second = await registerWith(here, key, 'token B');
    const rows = () =>
      withDatabase(terminal, ({ db }) => db.selectFrom('relay_devices').selectAll().orderBy('id').execute());
    const before = await rows();
    await terminal.run('rotate-token-key');
    terminal.now += 120_000;
    expect((await registerWith(here, key, 'token A')).body.device_id).toBe(first.body.device_id);
    const between = await rows();
    expect(between).toHaveLength(2);
    expect(between[0]?.token_lookup).not.toBe(before[0]?.token_lookup);
    terminal.now += 3_600_000;
    await expect
      .poll(async () => (await terminal.json('list')).token_keys, { interval: 200 })
      .toHaveLength(1);
    const after = await rows();
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const prefixes = new Set(after.map(({ token }) => token.split(':')[0]));
    expect([...prefixes]).toEqual([((await terminal.json('list')).token_keys as { id: string }[])[0]?.id]);
    expect((await registerWith(here, key, 'token B')).body.device_id).toBe(second.body.device_id);
    expect(await rows()).toHaveLength(2);
  });
});
