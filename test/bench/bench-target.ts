import { fork } from 'node:child_process';
import { once } from 'node:events';
import { medianRates, type Rates } from './bench-result.js';
import { HttpLoad } from './http-load.js';

const rounds = 7;
const roundMilliseconds = 1000;

/**
 * Ready message of a measured program: the ports of the product, and of the same product with a handler that stores
 * nothing.
 */
export interface DurableAndMemory {
  readonly durablePort: number;
  readonly memoryPort: number;
}

/** Sends a message to a program, and waits for its reply. */
export type Ask = <Answer>(question: unknown) => Promise<Answer>;

/**
 * Starts a program that runs the built product, and calls `measure` with the program's ready message. Ends the program
 * afterward.
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
    // The program may already have exited: `exited` has been pending since the start.
    child.kill('SIGTERM');
    await exited;
  }
}

/** Returns the requests per second of the durable and the in-memory handler, measured alternately. */
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
