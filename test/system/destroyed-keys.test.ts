import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { armor, Decrypter } from 'age-encryption';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-ports.js';
import { countInMemory } from '../support/process-memory.js';
import { runJsonCommand, SpawnedProcess } from '../support/spawned-process.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function runningRelay() {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-memory-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  const env = {
    RELAY_PORT: String(port),
    RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}`,
    RELAY_KEY_RING: join(folder, 'ring.age'),
    RELAY_KEY_RING_IDENTITY_FILE: join(folder, 'identity'),
  };
  await runJsonCommand('waxwing-relay', ['keys', 'init'], { env });
  const serving = { ...env, NODE_OPTIONS: '--heapsnapshot-signal=SIGUSR2' };
  const relay = new SpawnedProcess('waxwing-relay', ['serve'], { env: serving, cwd: folder });
  closers.push(() => relay.end());
  await relay.readyAt(`http://127.0.0.1:${port}/health/ready`);
  return { folder, env, relay };
}

interface StoredKey {
  readonly public_key: string;
  readonly private_key: string;
}

async function primaryKeyIn(folder: string): Promise<StoredKey> {
  const decrypter = new Decrypter();
  const identity = readFileSync(join(folder, 'identity'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith('AGE-'));
  decrypter.addIdentity(identity ?? '');
  const text = await decrypter.decrypt(armor.decode(readFileSync(join(folder, 'ring.age'), 'utf8')), 'text');
  return JSON.parse(text).bouncer_keys.at(-1);
}

/**
 * Takes a heap snapshot after a garbage collection. The snapshot contains every string and object that the process can
 * still reach.
 */
async function heapSnapshot(folder: string, relay: SpawnedProcess): Promise<Buffer> {
  const written = () => readdirSync(folder).filter((name) => name.endsWith('.heapsnapshot'));
  relay.child.kill('SIGUSR2');
  await expect
    .poll(() => written().map((name) => readFileSync(join(folder, name)).subarray(-2).toString()))
    .toEqual([']}']);
  return readFileSync(join(folder, written()[0] ?? ''));
}

describe('a relay that destroys a key while it runs', () => {
  const ends: Record<string, (publicKey: string) => string[]> = {
    retire: (publicKey) => ['keys', 'retire', publicKey, '--force', '--yes'],
    revoke: (publicKey) => ['keys', 'revoke', publicKey, '--compromised', '--yes'],
  };

  it.each(Object.keys(ends))(
    'removes the key from its memory: keys %s',
    async (way) => {
      const { folder, env, relay } = await runningRelay();
      const old = await primaryKeyIn(folder);
      const needles = [Buffer.from(old.private_key, 'base64'), Buffer.from(old.private_key)];
      const pid = relay.child.pid ?? 0;
      const inMemory = () => (process.platform === 'linux' ? countInMemory(pid, needles) : [0, 0]);
      if (process.platform === 'linux') expect(inMemory()[0]).toBeGreaterThan(0);
      await runJsonCommand('waxwing-relay', ['keys', 'rotate'], { env });
      expect(inMemory()[1]).toBe(0);
      await runJsonCommand('waxwing-relay', ends[way]?.(old.public_key) ?? [], { env });
      expect(inMemory()).toEqual([0, 0]);
      const snapshot = await heapSnapshot(folder, relay);
      expect(snapshot.includes(env.RELAY_KEY_RING)).toBe(true);
      expect(snapshot.includes(old.private_key)).toBe(false);
      expect(inMemory()).toEqual([0, 0]);
    },
    120_000,
  );
});
