import { randomBytes } from 'node:crypto';
import { registerPushDevicePath } from '@waxwing/protocol';
import type { BenchResult } from './bench-result.js';
import { type DurableAndMemory, durableAgainstMemory } from './bench-target.js';

const connections = 128;

/** Ready message of the server's process. */
export interface ServerBenchTarget extends DurableAndMemory {
  /** `Authorization` headers of the server's users. */
  readonly users: readonly string[];
}

/**
 * `server-accept`: registrations of new devices that a server accepts per second, compared with the same operation and
 * a handler that stores nothing. Both run in one process; this process only sends requests.
 */
export async function run(): Promise<BenchResult[]> {
  const program = new URL('./server-accept-target.ts', import.meta.url);
  const rates = await durableAgainstMemory<ServerBenchTarget>(program, connections, registrationMaker);
  return [{ name: 'server-accept', unit: 'registrations/s', ...rates, goal: 0.6, better: 'higher' }];
}

/** Returns a function that builds registration requests for new phones, round-robin across users. */
export function registrationMaker({ users }: Pick<ServerBenchTarget, 'users'>): () => Buffer {
  let count = 0;
  return () => {
    count += 1;
    const body = registrationForm();
    return Buffer.from(
      `POST ${registerPushDevicePath} HTTP/1.1\r\nHost: server\r\nAuthorization: ${users[count % users.length]}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    );
  };
}

const pushPublicKey = Buffer.from(randomBytes(32)).toString('base64');
const sealed = Buffer.alloc(560, 7).toString('base64');

/** Returns the form of a new phone's registration, with parameters of realistic size. */
export function registrationForm(): string {
  return new URLSearchParams({
    token_kind: 'fcm',
    push_account_id: String(randomBytes(8).readBigInt64BE()),
    push_public_key: pushPublicKey,
    bouncer_public_key: pushPublicKey,
    encrypted_push_registration: sealed,
  }).toString();
}
