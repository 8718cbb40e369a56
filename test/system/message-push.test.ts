import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addUsers } from '../support/add-users.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import type { SpawnedProcess } from '../support/spawned-process.js';

const token = `fcm-${'m7'.repeat(60)}:APA91b-message`;
const secretWords = 'a rendezvous of nightjars';
// Twice as long as the excerpt sent to phones.
const content = `${secretWords} ${'chirp '.repeat(70)}`;

let world: Constellation;
let relay: SpawnedProcess;
let ada: ConstellationUser;
let bob: ConstellationUser;

beforeEach(async () => {
  world = await Constellation.create({ relay: { RELAY_LOG_LEVEL: 'trace' } });
  relay = await world.startRelay();
  [ada, bob] = (await addUsers(world, ['ada', 'bob'])) as [ConstellationUser, ConstellationUser];
}, 120_000);

afterEach(() => world.close());

describe('notifications for messages', () => {
  it('survive kill -9 of the server once the messages are acknowledged, and only the phone can read them', async () => {
    const first = await world.startServer();
    const phone = await world.phone(ada, { tokenKind: 'fcm', token });
    expect(await phone.registrar.sync()).toMatchObject({ code: 'active' });
    await relay.end('SIGKILL');
    const sentIds: number[] = [];
    for (const text of ['first', 'second', content]) {
      const answer = await world.request(bob, 'POST', 'messages', {
        type: 'direct',
        to: JSON.stringify([ada.user_id]),
        content: text,
      });
      expect(answer.status).toBe(200);
      sentIds.push(JSON.parse(answer.text).id);
    }
    await first.end('SIGKILL');

    relay = await world.startRelay();
    await world.startServer();
    const seen = new Map<number, string>();
    const sizes = new Map<number, number>();
    const handled = new Set<string>();
    await expect
      .poll(
        async () => {
          for (const { body } of await world.deliveriesTo(token)) {
            const data = dataOf(body);
            if (handled.has(data.encrypted_data ?? '')) continue;
            handled.add(data.encrypted_data ?? '');
            const opened = await phone.client.open(data);
            if (opened.kind !== 'notification' || opened.notification.type !== 'message') continue;
            const id = Number(opened.notification.message_id);
            seen.set(id, opened.notification.content);
            sizes.set(id, data.encrypted_data?.length ?? 0);
          }
          return [...seen.keys()].sort((one, other) => one - other);
        },
        { timeout: 50_000, interval: 200 },
      )
      .toEqual(sentIds);
    const told = seen.get(sentIds[2] as number) ?? '';
    expect(told).toBe(`${[...content].slice(0, 200).join('')}…`);

    const deliveries = await world.deliveriesTo(token);
    // Notifications in the same size bucket have equal length, regardless of the lengths and the order of their texts.
    const [short = 0, other = 0, long = 0] = sentIds.map((id) => sizes.get(id));
    expect([other, long > other]).toEqual([short, true]);
    for (const plaintext of [secretWords, 'sender_full_name', 'bob@system.example']) {
      expect(deliveries.some(({ text }) => text.includes(plaintext))).toBe(false);
      expect(relay.output.includes(plaintext)).toBe(false);
      expect(filesOf('relay.sqlite').includes(plaintext)).toBe(false);
    }
    // Positive control: the search finds text that is known to be stored.
    expect(filesOf('server.sqlite').includes(secretWords)).toBe(true);
  }, 90_000);
});

function dataOf(body: unknown): Record<string, string> {
  return (body as { message: { data: Record<string, string> } }).message.data;
}

function filesOf(database: string): Buffer {
  const names = readdirSync(world.dir).filter((name) => name.startsWith(database));
  expect(names).toContain(database);
  return Buffer.concat(names.map((name) => readFileSync(join(world.dir, name))));
}
