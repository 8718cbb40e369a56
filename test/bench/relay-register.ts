import { encodePushRegistration } from '@waxwing/protocol';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { BenchResult } from './bench-result.js';
import { type DurableAndMemory, durableAgainstMemory } from './bench-target.js';

const connections = 512;
const sealedRegistrations = 8192;
const accountName = 'push_account_id=';

/** Ready message of the relay's process. */
export interface RelayBenchTarget extends DurableAndMemory {
  readonly authorization: string;
  readonly realmUuid: string;
  readonly bouncerPublicKey: string;
}

/**
 * `relay-register`: durable registrations of new devices per second over HTTP, compared with the same handler and an
 * in-memory store. Both run in one process; this process only sends requests.
 */
export async function run(): Promise<BenchResult[]> {
  const program = new URL('./relay-register-target.ts', import.meta.url);
  const rates = await durableAgainstMemory<RelayBenchTarget>(program, connections, requestMaker);
  return [{ name: 'relay-register', unit: 'registrations/s', ...rates, goal: 0.9, better: 'higher' }];
}

/**
 * Seals registrations in advance, as our client does. Returns a function that builds requests, each for a new push
 * account. At send time it generates only the account id, because the load generator shares the CPU with the relay.
 */
export async function requestMaker(
  target: Pick<RelayBenchTarget, 'authorization' | 'realmUuid' | 'bouncerPublicKey'>,
): Promise<() => Buffer> {
  const { sodium } = await loadFastestSodium();
  const publicKey = new Uint8Array(Buffer.from(target.bouncerPublicKey, 'base64'));
  const timestamp = Math.floor(Date.now() / 1000);
  const requests = Array.from({ length: sealedRegistrations }, (_, index) => {
    const token = `fcm-token-${String(index).padStart(8, '0')}:${'f'.repeat(80)}`;
    const registration = { tokenKind: 'fcm', token, timestamp, audience: target.realmUuid } as const;
    const sealed = sodium.seal(
      encodePushRegistration(registration, { nonce: String(index), padded: true }),
      publicKey,
    );
    const bytes = registrationRequest(target, sealed, { push_account_id: randomAccount() });
    return { bytes, accountAt: bytes.indexOf(accountName) + accountName.length };
  });
  let count = 0;
  return () => {
    count += 1;
    const { bytes, accountAt } = requests[count % requests.length] as (typeof requests)[number];
    const request = Buffer.from(bytes);
    request.write(randomAccount(), accountAt, 'latin1');
    return request;
  };
}

/** Returns the request for a sealed registration. `named` contains the field that names its account or token. */
export function registrationRequest(
  target: Pick<RelayBenchTarget, 'authorization' | 'realmUuid' | 'bouncerPublicKey'>,
  sealed: Uint8Array,
  named: Readonly<Record<string, string>>,
): Buffer {
  const body = new URLSearchParams({
    ...named,
    realm_uuid: target.realmUuid,
    encrypted_push_registration: Buffer.from(sealed).toString('base64'),
    bouncer_public_key: target.bouncerPublicKey,
  }).toString();
  return Buffer.from(
    `POST /api/v1/remotes/push/e2ee/register HTTP/1.1\r\nHost: relay\r\nAuthorization: ${target.authorization}\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  );
}

/**
 * Returns a random account id with 19 digits, as a client would choose it: rows that are written together are far apart
 * in the index.
 */
export function randomAccount(): string {
  const low = Math.floor(Math.random() * 1e9);
  return `${1e9 + Math.floor(Math.random() * 8e9)}${String(low).padStart(9, '0')}`;
}
