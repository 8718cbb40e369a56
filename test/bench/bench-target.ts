import { fork } from 'node:child_process';
import { once } from 'node:events';
import { medianRates, type Rates } from './bench-result.js';
import { HttpLoad } from './http-load.js';

const rounds = 7;
const roundMilliseconds = 1000;

/**
 * The ready message of a measured program: ports of the product, and of the same product with a handler that stores
 * nothing.
 */
export interface DurableAndMemory {
  readonly durablePort: number;
  readonly memoryPort: number;
}

/** Sends a message to a program, and waits for its reply. */
export type Ask = <Answer>(question: unknown) => Promise<Answer>;

/**
 * Starts a measured program of the built product, and calls back with its ready message once it listens. Ends the
 * program afterwards.
 */
export async function withBenchTarget<Target, Result>(
  program: URL,
  parameters: readonly string[],
  measure: (target: Target, ask: Ask) => Promise<Result>,
): Promise<Result> {
  const child = fork(program, parameters, {
    execArgv: [
      ...process.execArgv.filter((argument) => argument.startsWith('--cpu-prof')),
      ...['--import', 'tsx', '--import', new URL('./built-product.mjs', import.meta.url).href],
    ],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const failed = exited.then(() => {
    throw new Error('the measured program has ended');
  });
  const ask = async <Answer>(question: unknown): Promise<Answer> => {
    child.send(question as object);
    const [answer] = await once(child, 'message');
    return answer as Answer;
  };
  try {
    const [target] = await Promise.race([once(child, 'message'), failed]);
    return await Promise.race([measure(target as Target, ask), failed]);
  } finally {
    // The program may have exited already; its exit was awaited from the start.
    child.kill('SIGTERM');
    await exited;
  }
}

/** Requests per second that each of the two answers over this many connections, measured alternately. */
export function durableAgainstMemory<Target extends DurableAndMemory>(
  program: URL,
  connections: number,
  requestMaker: (target: Target) => (() => Buffer) | Promise<() => Buffer>,
): Promise<Rates> {
  return withBenchTarget<Target, Rates>(program, [], async (target) => {
    const nextRequest = await requestMaker(target);
    const durable = await HttpLoad.open({ port: target.durablePort, connections, nextRequest });
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
    return rates;
  });
}
