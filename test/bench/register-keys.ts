import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodePushRegistration } from '@waxwing/protocol';
import { Secret, writePrivateFile } from '@waxwing/service/config';
import { systemClock } from '@waxwing/service/lifecycle';
import { createLogger } from '@waxwing/service/logging';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { generateX25519Identity } from 'age-encryption';
import type { LiveKeyRing } from '#relay/keyring/live/live-key-ring.js';
import { createKeyRingKeeper, openKeyRing } from '#relay/keyring/open-key-ring.js';
import type { BouncerPublicKey } from '#relay/keyring/ring/key-ring.js';
import { importKeys } from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { defaultRotationPolicy } from '#relay/keyring/ring/rotation-policy.js';
import type { KeyRingConfiguration } from '#relay/keyring/storage/key-ring-configuration.js';
import { openRelayDatabase } from '#relay/open-database.js';
import {
  decodeSealedRegistration,
  openRegistration,
} from '#relay/registrations/opening/open-registration.js';
import { type BenchResult, medianRates, rateOf } from './bench-result.js';

const manyKeys = 1000;
// Short rounds, so that a load spike on the machine affects both sides equally.
const rounds = 61;
const roundMilliseconds = 60;

const { sodium } = await loadFastestSodium();

/**
 * `register-keys`: finding a registration's key and opening the registration, with 1,000 keys in the ring, compared
 * with one.
 */
export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
  const many = await openRing(join(folder, 'many'), manyKeys);
  const one = await openRing(join(folder, 'one'), 1);
  try {
    const openWithMany = opening(many);
    const openWithOne = opening(one);
    const rates = await medianRates(
      rounds,
      async () => rateOf(openWithMany, roundMilliseconds),
      async () => rateOf(openWithOne, roundMilliseconds),
    );
    return [{ name: 'register-keys', unit: 'openings/s', ...rates, goal: 0.9, better: 'higher' }];
  } finally {
    await many.close();
    await one.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface BenchRing {
  readonly keyRing: LiveKeyRing;
  readonly publicKeys: readonly string[];
  close(): Promise<void>;
}

/** Opens a live ring in a file, as a relay does. */
async function openRing(folder: string, keys: number): Promise<BenchRing> {
  const configuration: KeyRingConfiguration = {
    location: { kind: 'file', path: join(folder, 'ring.age') },
    unlock: { kind: 'identity', path: join(folder, 'identity') },
    policy: defaultRotationPolicy,
    auditLog: join(folder, 'audit.jsonl'),
    adminSocket: join(folder, 'ring.sock'),
  };
  await writePrivateFile(configuration.unlock.path, `${await generateX25519Identity()}\n`);
  const database = await openRelayDatabase({
    url: new Secret(`sqlite:${join(folder, 'relay.sqlite')}`),
    role: 'visiting',
    clock: systemClock,
    onJobError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  const options = { sodium, clock: systemClock, database };
  const now = systemClock();
  const imported = Array.from({ length: keys - 1 }, () => {
    const { publicKey, privateKey } = sodium.generateKeyPair();
    const facts = { createdAt: undefined, acceptedUntil: undefined };
    return {
      publicKey: toBase64(publicKey) as BouncerPublicKey,
      privateKey: new Secret(privateKey),
      ...facts,
    };
  });
  const ring = importKeys(newKeyRing(sodium, now), imported, { now, policy: defaultRotationPolicy });
  await createKeyRingKeeper(configuration, options).create(ring, 'bench');
  const log = createLogger('bench', 'silent');
  const open = await openKeyRing(configuration, { ...options, log });
  return {
    ...open,
    publicKeys: ring.bouncerKeys.map(({ publicKey }) => publicKey),
    async close() {
      await open.close();
      await database.close();
    },
  };
}

/** Returns a function that opens one registration per call, each sealed to a different key in the ring. */
function opening({ keyRing, publicKeys }: BenchRing): () => void {
  const registration = encodePushRegistration({
    tokenKind: 'fcm',
    token: 'f'.repeat(100),
    timestamp: Math.floor(systemClock() / 1000),
  });
  const requests = publicKeys.map((publicKey) => ({
    publicKey,
    sealed: toBase64(sodium.seal(registration, new Uint8Array(Buffer.from(publicKey, 'base64')))),
  }));
  let next = 0;
  return () => {
    const request = requests[next++ % requests.length];
    const keyPair = request && keyRing.find(request.publicKey);
    const opened = keyPair && openRegistration(sodium, decodeSealedRegistration(request.sealed), keyPair);
    if (opened?.tokenKind !== 'fcm') throw new Error('not opened');
  };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
