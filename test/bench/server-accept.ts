import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { registerPushDevicePath } from '@waxwing/protocol';
import { type BenchResult, medianRates } from './bench-result.js';
import { HttpLoad } from './http-load.js';

const rounds = 7;
const roundMilliseconds = 1000;
const connections = 128;

/** What the server process says when it listens. */
export interface ServerBenchTarget {
  readonly port: number;
  readonly memoryPort: number;
  /** `Authorization` headers of its users. */
  readonly users: readonly string[];
}

/**
 * `server-accept`: registrations a second that a server accepts, each a new device, against the same operation whose
 * handler keeps nothing. Both run in one process, this one only sends.
 */
export async function run(): Promise<BenchResult[]> {
  const { child, target } = await startServerTarget();
  try {
    const nextRequest = registrationMaker(target.users);
    const durable = await HttpLoad.open({ port: target.port, connections, nextRequest });
    const memory = await HttpLoad.open({ port: target.memoryPort, connections, nextRequest });
    await durable.run(roundMilliseconds);
    await memory.run(roundMilliseconds);
    const rates = await medianRates(
      rounds,
      () => durable.run(roundMilliseconds),
      () => memory.run(roundMilliseconds),
    );
    durable.close();
    memory.close();
    return [{ name: 'server-accept', unit: 'registrations/s', ...rates, goal: 0.6, better: 'higher' }];
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

async function startServerTarget(): Promise<{
  readonly child: ChildProcess;
  readonly target: ServerBenchTarget;
}> {
  const child = fork(new URL('./server-accept-target.ts', import.meta.url), {
    execArgv: [
      ...process.execArgv.filter((argument) => argument.startsWith('--cpu-prof')),
      ...['--import', 'tsx', '--import', new URL('./built-product.mjs', import.meta.url).href],
    ],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const failed = once(child, 'exit').then(() => {
    throw new Error('the server to be measured ended before it listened');
  });
  const [target] = await Promise.race([once(child, 'message'), failed]);
  return { child, target: target as ServerBenchTarget };
}

/** Registrations of new phones, of one user after the other, sized as phones make them. */
function registrationMaker(users: readonly string[]): () => Buffer {
  const pushPublicKey = Buffer.from(randomBytes(32)).toString('base64');
  const sealed = Buffer.alloc(560, 7).toString('base64');
  let count = 0;
  return () => {
    count += 1;
    const body = new URLSearchParams({
      token_kind: 'fcm',
      push_account_id: String(randomBytes(8).readBigInt64BE()),
      push_public_key: pushPublicKey,
      bouncer_public_key: pushPublicKey,
      encrypted_push_registration: sealed,
    }).toString();
    return Buffer.from(
      `POST ${registerPushDevicePath} HTTP/1.1\r\nHost: server\r\nAuthorization: ${users[count % users.length]}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    );
  };
}
