import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '@waxwing/service/config';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveKeyRing } from '#relay/keyring/live/live-key-ring.js';
import type { KeyRing } from '#relay/keyring/ring/key-ring.js';
import { openKeyRingCipher } from '#relay/keyring/storage/key-ring-cipher.js';
import { encodeKeyRing } from '#relay/keyring/storage/key-ring-document.js';
import { ringOf } from './key-terminal.js';
import { followedKey, type RelayWithKeys, registerWith, relayWithKeys } from './relay-with-keys.js';
import { sodium } from './ring-material.js';

let here: RelayWithKeys;
let liveRing: LiveKeyRing;
beforeEach(async () => {
  // The relay does not expose its live ring, so the test captures the ring at its first refresh.
  const look = vi.spyOn(LiveKeyRing.prototype, 'refresh');
  here = await relayWithKeys();
  liveRing = look.mock.contexts[0] as unknown as LiveKeyRing;
  vi.restoreAllMocks();
});
afterEach(() => here.relay.close());

async function readiness(url: string) {
  const answer = await fetch(new URL('/health/ready', url));
  const { checks } = (await answer.json()) as { checks: { keys: string } };
  return { status: answer.status, keys: checks.keys };
}

/** Reads the readiness of the keys from the public port and from the operator's metrics port. */
async function both() {
  here.terminal.now += 1000;
  return [await readiness(here.relay.url), await readiness(here.relay.metricsUrl ?? '')];
}

function notReady(sentence: RegExp) {
  return [
    { status: 503, keys: 'not ok' },
    { status: 503, keys: expect.stringMatching(sentence) },
  ];
}

const ready = [
  { status: 200, keys: 'ok' },
  { status: 200, keys: 'ok' },
];

/** Encrypts `ring`, which may be invalid, and replaces the stored ring with it. */
async function store(ring: KeyRing): Promise<void> {
  const path = join(here.terminal.folder, 'identity');
  const cipher = await openKeyRingCipher({ kind: 'identity', path });
  await writePrivateFile(join(here.terminal.folder, 'ring.age'), await cipher.encrypt(encodeKeyRing(ring)));
}

describe('readiness of the keys', () => {
  const spoilt: [string, (ring: KeyRing) => KeyRing, RegExp][] = [
    ['no key', (ring) => ({ ...ring, bouncerKeys: [] }), /The key ring is empty/],
    [
      'no primary key',
      (ring) => ({
        ...ring,
        bouncerKeys: ring.bouncerKeys.map(({ id, publicKey, createdAt }) => ({
          id,
          publicKey,
          createdAt,
          state: 'retired' as const,
          retiredAt: createdAt,
        })),
      }),
      /has no primary key where exactly one is needed/,
    ],
    [
      'a primary key without its private half',
      (ring) => {
        for (const key of ring.bouncerKeys) if ('privateKey' in key) sodium.wipe(key.privateKey.reveal());
        return ring;
      },
      /does not belong to its private key/,
    ],
  ];

  it.each(spoilt)(
    'fails while the stored ring has %s, and recovers with the right ring',
    async (_what, spoil, why) => {
      const path = join(here.terminal.folder, 'ring.age');
      const good = readFileSync(path);
      expect(await both()).toEqual(ready);
      await store(spoil(await ringOf(here.terminal)));
      expect(await both()).toEqual(notReady(why));
      // The ring in memory is still valid.
      expect((await registerWith(here, await followedKey(here), 'a token')).status).toBe(200);
      await writePrivateFile(path, good);
      here.terminal.now += 10_000;
      expect(await both()).toEqual(ready);
    },
  );

  it('fails if the ring in use has lost the private half of its primary key', async () => {
    expect(await both()).toEqual(ready);
    const primary = liveRing.primaryPublicKey();
    const { id } = (await ringOf(here.terminal)).bouncerKeys[0] ?? { id: '' };
    sodium.wipe(liveRing.find(primary)?.privateKey ?? new Uint8Array());
    expect((await registerWith(here, primary, 'a token')).status).toBe(400);
    expect(await both()).toEqual(notReady(new RegExp(`no private half of its key ${id} \\(primary\\)`)));
  });

  it('fails if an accepted key has lost its private half, although the primary key still works', async () => {
    const old = liveRing.primaryPublicKey();
    await here.terminal.json('rotate');
    expect(await both()).toEqual(ready);
    sodium.wipe(liveRing.find(old)?.privateKey ?? new Uint8Array());
    expect((await registerWith(here, liveRing.primaryPublicKey(), 'a token')).status).toBe(200);
    expect(await both()).toEqual(notReady(/no private half of its key [0-9a-f]{12} \(accepted\)/));
  });
});
