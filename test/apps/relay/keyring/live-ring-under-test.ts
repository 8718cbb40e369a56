import { join } from 'node:path';
import { type DatabaseWithJobs, openDatabaseWithJobs } from '@waxwing/jobs';
import { writePrivateFile } from '@waxwing/service/config';
import { generateX25519Identity } from 'age-encryption';
import { afterEach, beforeEach, vi } from 'vitest';
import { createKeyRingKeeper, openKeyRing } from '#relay/keyring/open-key-ring.js';
import { rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import type { KeyRingConfiguration, KeyRingLocation } from '#relay/keyring/storage/key-ring-configuration.js';
import { type KeyRingTables, keyRingMigrations } from '#relay/keyring/storage/key-ring-tables.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { freshFolder, policy, sodium, startedAt } from './ring-material.js';

/**
 * Returns a list of cleanup functions that are called after each test, newest first. Also disables the refresh every
 * second, so tests refresh the ring explicitly.
 */
export function closedAfterEach(): (() => Promise<void>)[] {
  const closers: (() => Promise<void>)[] = [];
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    vi.useRealTimers();
  });
  return closers;
}

export interface SharedWorld {
  readonly folder: string;
  readonly time: { now: number };
  readonly database: DatabaseWithJobs<KeyRingTables>;
  readonly configuration: KeyRingConfiguration;
}

/** Creates the environment of several relays that share a ring: folder, clock and database. */
export async function sharedWorld(
  { folder, time }: { readonly folder: string; readonly time: { now: number } },
  databaseUrl: string,
  place: KeyRingLocation = { kind: 'file', path: join(folder, 'ring.age') },
): Promise<SharedWorld> {
  const database = await openDatabaseWithJobs<KeyRingTables>({
    url: databaseUrl,
    migrations: [keyRingMigrations],
    role: 'visiting',
    now: () => time.now,
    onJobError: () => undefined,
  });
  const configuration: KeyRingConfiguration = {
    location: place,
    unlock: { kind: 'identity', path: join(folder, 'identity') },
    policy,
    auditLog: join(folder, 'audit.jsonl'),
    adminSocket: join(folder, 'ring.sock'),
  };
  return { folder, time, database, configuration };
}

function options({ time, database }: SharedWorld) {
  return { sodium, clock: () => time.now, database };
}

/** A keeper that changes the ring outside of any relay. */
export function keeperOf(world: SharedWorld) {
  return createKeyRingKeeper(world.configuration, options(world));
}

export async function makeRing(world: SharedWorld): Promise<void> {
  await keeperOf(world).create(newKeyRing(sodium, world.time.now), 'test');
}

/** Creates a folder and a database, with a ring in the folder. */
export async function worldOnDisk(closers: (() => Promise<void>)[]): Promise<SharedWorld> {
  const folder = freshFolder();
  await writePrivateFile(join(folder, 'identity'), `${await generateX25519Identity()}\n`);
  const time = { now: startedAt };
  const world = await sharedWorld({ folder, time }, `sqlite:${join(folder, 'relay.sqlite')}`);
  closers.push(() => world.database.close());
  await makeRing(world);
  return world;
}

/** Opens one relay's ring. Default for `monotonic`: the test's clock. */
export async function liveRing(world: SharedWorld, monotonic: () => number = () => world.time.now) {
  const log = createMemoryLog();
  const open = await openKeyRing(world.configuration, {
    ...options(world),
    monotonic,
    log: log.log,
  });
  return { ...open, log };
}

/** Returns a transition that creates a new primary key. */
export function rotateOnce({ time, configuration }: SharedWorld) {
  const context = {
    now: time.now,
    policy: configuration.policy,
    makeKeyPair: () => sodium.generateKeyPair(),
  };
  return (ring: Parameters<typeof rotate>[0]) => rotate(ring, context);
}
