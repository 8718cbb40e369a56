import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { policy, type RingOnDisk, ringOnDisk, sodium, startedAt } from './ring-material.js';

const kills = 12;
const atOnce = 4;

/**
 * Starts a process that changes the ring, and kills it `delayMilliseconds` after its first change, as a power cut
 * would.
 */
async function killWhileWriting({ path, identityPath, auditPath }: RingOnDisk, delayMilliseconds: number) {
  const script = join(import.meta.dirname, 'rotate-without-end.ts');
  const flags = ['--conditions=@waxwing/source', '--import', 'tsx', script];
  const child = spawn(process.execPath, [...flags, path, identityPath, auditPath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const ended = once(child, 'exit');
  setTimeout(() => child.kill('SIGKILL'), delayMilliseconds);
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
}

it(`the stored ring is always the complete old or new ring after kill -9 at ${kills} random moments of a write`, async () => {
  const disk = await ringOnDisk();
  const seen = new Set<string>();
  // Several concurrent processes also compete for the lock, which must be released when a process is killed.
  for (let killed = 0; killed < kills; killed += atOnce) {
    const delays = Array.from({ length: atOnce }, () => Math.random() * 120);
    await Promise.all(delays.map((delay) => killWhileWriting(disk, delay)));
    const { ring, stored } = await disk.keeper.read();
    seen.add(stored);
    expect(ring.published?.signature).toBeDefined();
    const audited = readFileSync(disk.auditPath, 'utf8').trimEnd().split('\n');
    expect(audited.length).toBeGreaterThan(2);
  }
  expect(seen.size).toBe(kills / atOnce);
  const makeKeyPair = () => sodium.generateKeyPair();
  const change = { actor: 'test', action: 'rotate' };
  await disk.keeper.change((ring) => rotate(ring, { now: startedAt, policy, makeKeyPair }), change);
  expect(readdirSync(disk.folder).filter((name) => name.endsWith('.new'))).toEqual([]);
}, 120_000);
