import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { shareOf } from '../support/share-of.js';
import { basicAuthorization } from '../system/crash/ask.js';
import type { CrashWorld } from '../system/crash/crash-world.js';
import { createBenchWorld, registrationMaker } from './bench-relay.js';
import type { BenchOptions, BenchResult } from './bench-result.js';
import { OpenLoad, type OpenLoadReport } from './open-load.js';

const users = 20;
/** Just enough connections to keep a process busy: the measured capacity is then a rate without queuing. */
const busyConnections = 64;
const capacityMilliseconds = 3000;
const timesCapacity = 3;
const overloadMilliseconds = 15_000;
const fullOverloadMilliseconds = 60_000;
/**
 * Time for which all due requests may be in flight, so that they queue in the measured process and not in the load
 * generator.
 */
const underWaySeconds = 1;
const mostConnections = 9000;
const recoveryMilliseconds = 5000;
/** Maximum latency after the overload, at a third of the capacity. */
const usualMilliseconds = 300;
const mostMemoryGrowth = 2;

interface Subject {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly nextRequest: () => Buffer;
}

/**
 * `overload`: latency of the relay's registrations and of the server's messages, including refusals, at three times
 * their capacity. The figure is the higher p99 of the two, compared with one second. Fails if memory more than doubles,
 * or if the latency is not back to normal after five seconds.
 */
export async function run({ full }: BenchOptions): Promise<BenchResult[]> {
  const world = await createBenchWorld(undefined, users);
  const milliseconds = full ? fullOverloadMilliseconds : overloadMilliseconds;
  try {
    const figures = [
      await overloadedFor(await relaySubject(world), milliseconds),
      await overloadedFor(await serverSubject(world), milliseconds),
    ];
    const value = Math.max(...figures);
    const against = 1000;
    const ratio = value / against;
    return [{ name: 'overload', value, unit: 'ms', against, ratio, goal: 1, better: 'lower' }];
  } finally {
    await world.close();
  }
}

async function relaySubject(world: CrashWorld): Promise<Subject> {
  const { constellation } = world;
  const { child } = await constellation.startRelay({
    RELAY_MAXIMUM_REQUESTS_PER_SERVER: '10000',
    RELAY_MAXIMUM_CONNECTIONS_PER_ADDRESS: '10000',
    RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '100000000',
    // A connection can be idle for a long time before its first request, so the timeouts are long.
    RELAY_HEAD_TIMEOUT_SECONDS: '300',
    RELAY_REQUEST_TIMEOUT_SECONDS: '300',
  });
  return {
    name: 'the relay',
    port: Number(new URL(constellation.relayUrl).port),
    pid: child.pid as number,
    nextRequest: await registrationMaker(world),
  };
}

/** Starts a server whose users send messages to themselves. One user sends half of all messages. */
async function serverSubject({ constellation, users: all }: CrashWorld): Promise<Subject> {
  const { child } = await constellation.startServer({
    SERVER_MAXIMUM_REQUESTS_PER_USER: '10000',
    SERVER_MAXIMUM_CONNECTIONS_PER_ADDRESS: '10000',
    SERVER_HEAD_TIMEOUT_SECONDS: '300',
    SERVER_REQUEST_TIMEOUT_SECONDS: '300',
  });
  const requests = all.map(({ api_key, email, user_id }) => {
    const content = 'a message that is **neither** long nor short';
    const body = new URLSearchParams({ type: 'direct', to: `[${user_id}]`, content }).toString();
    return Buffer.from(
      `POST /api/v1/messages HTTP/1.1\r\nHost: chat\r\nAuthorization: ${basicAuthorization(email, api_key)}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
  let count = 0;
  const nextRequest = (): Buffer => {
    count += 1;
    return requests[count % 2 === 0 ? 0 : count % requests.length] as Buffer;
  };
  return {
    name: 'the server',
    port: Number(new URL(constellation.serverUrl).port),
    pid: child.pid as number,
    nextRequest,
  };
}

interface Measured {
  readonly capacity: number;
  readonly overloaded: OpenLoadReport;
  readonly afterwards: OpenLoadReport;
  /** Maximum memory during the load, relative to before. */
  readonly growth: number;
}

/** Returns the p99 latency of all responses in milliseconds. @throws Error if the process does not recover. */
async function overloadedFor(subject: Subject, milliseconds: number): Promise<number> {
  const { capacity, overloaded, afterwards, growth } = await measure(subject, milliseconds);
  const { successes, refusals } = overloaded;
  const figure = p99([...successes, ...refusals]);
  const usual = p99([...afterwards.successes, ...afterwards.refusals]);
  const { name } = subject;
  process.stderr.write(
    `${name}: of ${timesCapacity} times ${Math.round(capacity)} requests a second ${successes.length} answered, ` +
      `${refusals.length} refused, p99 ${Math.round(figure)} ms (of the answered ${Math.round(p99(successes))} ms, ` +
      `of the refused ${Math.round(p99(refusals))} ms; the load program itself ` +
      `${Math.round(p99(overloaded.ownMilliseconds))} ms late); afterwards ${Math.round(usual)} ms; ` +
      `memory ${growth.toFixed(2)} times that before\n`,
  );
  if (growth > mostMemoryGrowth) throw new Error(`${name} took ${growth.toFixed(1)} times its memory`);
  const refusedAfterwards = afterwards.refusals.length;
  if (refusedAfterwards > 0) throw new Error(`${name} refused ${refusedAfterwards} requests afterwards`);
  if (usual > usualMilliseconds) throw new Error(`${name} took ${Math.round(usual)} ms afterwards`);
  return figure;
}

async function measure({ port, pid, nextRequest }: Subject, milliseconds: number): Promise<Measured> {
  const capacity = await capacityOf({ port, nextRequest });
  const connections = Math.min(mostConnections, Math.ceil(capacity * timesCapacity * underWaySeconds));
  const load = await OpenLoad.open({ port, connections, nextRequest });
  try {
    // Uses each connection once at low load before the overload. Otherwise, the kernel would resend the first request
    // on each connection that the process has not accepted yet, at growing intervals.
    await load.run((connections * 1000) / (capacity / 2), capacity / 2);
    const before = residentBytes(pid);
    const watch = watchMemory(pid);
    const overloaded = await load.run(milliseconds, capacity * timesCapacity);
    const growth = watch() / before;
    await pause(recoveryMilliseconds);
    const afterwards = await load.run(capacityMilliseconds, capacity / 3);
    return { capacity, overloaded, afterwards, growth };
  } finally {
    load.close();
  }
}

/** Returns the number of requests per second that the process serves when it is just busy. */
async function capacityOf({ port, nextRequest }: Pick<Subject, 'port' | 'nextRequest'>): Promise<number> {
  const load = await OpenLoad.open({ port, connections: busyConnections, nextRequest });
  try {
    await load.saturate(capacityMilliseconds, busyConnections);
    return await load.saturate(capacityMilliseconds, busyConnections);
  } finally {
    load.close();
  }
}

function p99(milliseconds: readonly number[]): number {
  return shareOf(milliseconds, 0.99);
}

/** Samples memory ten times a second. The returned function ends the sampling and returns the maximum. */
function watchMemory(pid: number): () => number {
  let most = residentBytes(pid);
  const looks = setInterval(() => {
    most = Math.max(most, residentBytes(pid));
  }, 100);
  return () => {
    clearInterval(looks);
    return most;
  };
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
