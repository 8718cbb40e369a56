import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePrivateFile } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { generateX25519Identity } from 'age-encryption';
import { KeyRingKeeper } from '#relay/keyring/live/key-ring-keeper.js';
import type { KeyRing } from '#relay/keyring/ring/key-ring.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { dayMilliseconds, defaultRotationPolicy } from '#relay/keyring/ring/rotation-policy.js';
import { auditFile } from '#relay/keyring/storage/audit-log.js';
import { keyRingFile } from '#relay/keyring/storage/key-ring-file.js';

export const { sodium } = await loadFastestSodium();
export const day = dayMilliseconds;
export const policy = defaultRotationPolicy;
export const startedAt = Date.parse('2026-03-01T00:00:00Z');

export function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), 'waxwing-ring-'));
}

/**
 * Returns every private key in a ring, in the encodings that a file could contain: base64, unpadded base64,
 * hexadecimal, and raw bytes.
 */
export function privateTexts(ring: KeyRing): string[] {
  const secrets = [
    ...ring.bouncerKeys.flatMap((key) => ('privateKey' in key ? [key.privateKey] : [])),
    ...ring.signingKeys.flatMap(({ privateKey }) => (privateKey === undefined ? [] : [privateKey])),
    ...ring.vapidKeys.map(({ privateKey }) => privateKey),
    ...ring.tokenKeys.flatMap(({ encryptionKey, lookupKey }) => [encryptionKey, lookupKey]),
  ];
  return secrets.flatMap((secret) => {
    const bytes = Buffer.from(secret.reveal());
    const base64 = bytes.toString('base64');
    return [base64, base64.replace(/=+$/, ''), bytes.toString('hex'), bytes.toString('latin1')];
  });
}

export interface RingOnDisk {
  readonly folder: string;
  readonly path: string;
  readonly identityPath: string;
  readonly auditPath: string;
  readonly keeper: KeyRingKeeper;
  readonly time: { now: number };
  /** Environment variables for a relay with this ring. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Creates a key ring file in a new folder. Default for `clock`: reads `time` of the result. */
export async function ringOnDisk(ring?: KeyRing, clock?: Clock): Promise<RingOnDisk> {
  const folder = freshFolder();
  const identityPath = join(folder, 'identity');
  await writePrivateFile(identityPath, `${await generateX25519Identity()}\n`);
  const path = join(folder, 'ring.age');
  const auditPath = join(folder, 'audit.jsonl');
  const time = { now: startedAt };
  const now = clock ?? (() => time.now);
  const keeper = new KeyRingKeeper({
    store: keyRingFile(path),
    unlock: { kind: 'identity', path: identityPath },
    policy,
    sodium,
    clock: now,
    audit: auditFile(auditPath),
  });
  await keeper.create(ring ?? newKeyRing(sodium, now()), 'test');
  const environment = { RELAY_KEY_RING: path, RELAY_KEY_RING_IDENTITY_FILE: identityPath };
  return { folder, path, identityPath, auditPath, keeper, time, environment };
}
