import type { Constellation, ConstellationUser } from '../support/constellation.js';
import { createBenchWorld } from './bench-relay.js';
import type { BenchResult } from './bench-result.js';
import { median } from './bench-result.js';

const readers = 1000;
const rounds = 5;
const registeringAtOnce = 16;
/** Maximum time in milliseconds until 50% and 99% of the notifications have arrived. */
const limits = { p50: 2000, p99: 4000 };
const pollMilliseconds = 100;

/**
 * `push-fanout-p50` and `push-fanout-p99`: milliseconds from sending a message to 1,000 readers with one phone each
 * until the stand-in for FCM receives the notifications, on SQLite. Server, relay and load generator share the machine.
 */
export async function run(): Promise<BenchResult[]> {
  const world = await createBenchWorld(undefined, readers + 1);
  try {
    const { constellation, users } = world;
    const [sender, ...others] = users as [ConstellationUser, ...ConstellationUser[]];
    await constellation.startRelay();
    await constellation.startServer();
    await expectSuccess(constellation, sender, 'users/me/subscriptions', {
      subscriptions: '[{"name":"all"}]',
      principals: JSON.stringify(users.map(({ user_id }) => user_id)),
    });
    const left = others.entries();
    await Promise.all(Array.from({ length: registeringAtOnce }, () => addPhones(constellation, left)));
    const p50s: number[] = [];
    const p99s: number[] = [];
    // Round -1 is a warm-up: it compiles code and opens connections.
    for (let round = -1; round < rounds; round++) {
      const times = await sendOne(constellation, sender, round);
      if (round < 0) continue;
      p50s.push(times[Math.floor(readers * 0.5)] ?? Number.NaN);
      p99s.push(times[Math.floor(readers * 0.99)] ?? Number.NaN);
    }
    return [
      resultOf('push-fanout-p50', median(p50s), limits.p50),
      resultOf('push-fanout-p99', median(p99s), limits.p99),
    ];
  } finally {
    await world.close();
  }
}

function resultOf(name: string, value: number, against: number): BenchResult {
  return { name, unit: 'ms', value, against, ratio: value / against, goal: 1, better: 'lower' };
}

/** Registers a phone for each remaining user of `left`, and turns on notifications for channel messages. */
async function addPhones(
  world: Constellation,
  left: Iterator<[number, ConstellationUser]> & Iterable<[number, ConstellationUser]>,
): Promise<void> {
  for (const [index, user] of left) {
    await expectSuccess(world, user, 'settings', { enable_stream_push_notifications: 'true' }, 'PATCH');
    const token = `fcm-${String(index).padStart(8, '0')}:APA91b-${'x'.repeat(120)}`;
    const phone = await world.phone(user, { tokenKind: 'fcm', token });
    const state = await phone.registrar.sync();
    if (state.code !== 'active') throw new Error(`a phone is ${state.code}, not active`);
  }
}

/** Sends a message. Returns the sorted times until the vendor received each notification, in milliseconds. */
async function sendOne(world: Constellation, sender: ConstellationUser, round: number): Promise<number[]> {
  const deliveries = `${world.vendors.urls.http}/deliveries`;
  await fetch(deliveries, { method: 'DELETE' });
  const sentAt = Date.now();
  const content = `message ${round} to everybody`;
  await expectSuccess(world, sender, 'messages', { type: 'channel', to: '"all"', topic: 'bench', content });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
    const answer = (await (await fetch(`${deliveries}`)).json()) as {
      deliveries: { received_at: number }[];
    };
    if (answer.deliveries.length < readers) continue;
    return answer.deliveries.map(({ received_at }) => received_at - sentAt).sort((one, other) => one - other);
  }
}

async function expectSuccess(
  world: Constellation,
  user: ConstellationUser,
  path: string,
  parameters: Record<string, string>,
  method: 'POST' | 'PATCH' = 'POST',
): Promise<void> {
  const { status, text } = await world.request(user, method, path, parameters);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
}
