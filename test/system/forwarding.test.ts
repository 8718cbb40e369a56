import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addUsers } from '../support/add-users.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import { publicKeyOf, seal } from '../support/noble-oracle.js';

let world: Constellation;
let user: ConstellationUser;

beforeAll(async () => {
  world = await Constellation.create();
}, 60_000);

let tests = 0;
beforeEach(async () => {
  tests += 1;
  user = (await addUsers(world, [`ada-${tests}`]))[0] as ConstellationUser;
});

afterEach(() => world.endProcesses());
afterAll(() => world.close());

type Pending = { status: string; error_code: string | null };

async function pushDevices(): Promise<Record<string, Pending>> {
  const { text } = await world.request(user, 'POST', 'register', { event_types: '["push_device"]' });
  return (JSON.parse(text) as { push_devices: Record<string, Pending> }).push_devices;
}

/** Waits, through the event queue, until the device is no longer pending. */
async function outcomeOf(id: string): Promise<Pending> {
  const { text } = await world.request(user, 'POST', 'register', { event_types: '["push_device"]' });
  const { queue_id, last_event_id, push_devices } = JSON.parse(text) as {
    queue_id: string;
    last_event_id: number;
    push_devices: Record<string, Pending>;
  };
  const now = push_devices[id];
  if (now !== undefined && now.status !== 'pending') return now;
  let lastEventId = last_event_id;
  for (;;) {
    const answer = await world.request(user, 'GET', 'events', {
      queue_id,
      last_event_id: String(lastEventId),
    });
    const { events } = JSON.parse(answer.text) as {
      events: { id: number; type: string; push_account_id?: string; status: string; error_code?: string }[];
    };
    for (const event of events) {
      lastEventId = event.id;
      if (event.type === 'push_device' && event.push_account_id === id) {
        return { status: event.status, error_code: event.error_code ?? null };
      }
    }
  }
}

/** A registration as a peer with its own cryptography makes it. */
function registration(id: string, { bouncerPublicKey = world.bouncerPublicKey, token = `fcm-${id}` } = {}) {
  const plaintext = JSON.stringify({ token_kind: 'fcm', token, timestamp: Math.floor(Date.now() / 1000) });
  const bouncer = Buffer.from(bouncerPublicKey, 'base64');
  return {
    token_kind: 'fcm',
    push_account_id: id,
    push_public_key: Buffer.from(publicKeyOf(randomBytes(32))).toString('base64'),
    bouncer_public_key: bouncerPublicKey,
    encrypted_push_registration: Buffer.from(seal(Buffer.from(plaintext), bouncer, randomBytes(32))).toString(
      'base64',
    ),
  };
}

const register = (parameters: Record<string, string>) =>
  world.request(user, 'POST', 'mobile_push/register', parameters);

describe('the server forwards what it has accepted', () => {
  it('once the relay is back', async () => {
    await world.startServer();
    const id = '9223372036854775807';
    expect(await register(registration(id))).toEqual({
      status: 200,
      text: '{"result":"success","msg":""}\n',
    });
    expect(await pushDevices()).toEqual({ [id]: { status: 'pending', error_code: null } });
    await world.startRelay();
    expect(await outcomeOf(id)).toEqual({ status: 'active', error_code: null });
  });

  it('even if it is killed between accepting and forwarding', async () => {
    const server = await world.startServer();
    const ids = ['1', '-5', '4611686018427387905'];
    for (const id of ids) expect((await register(registration(id))).status).toBe(200);
    await server.end('SIGKILL');
    await world.startRelay();
    await world.startServer();
    for (const id of ids) expect(await outcomeOf(id)).toEqual({ status: 'active', error_code: null });
  });

  it('and reports a permanent refusal with its code, in the answer and in an event', async () => {
    await Promise.all([world.startRelay(), world.startServer()]);
    const stranger = Buffer.from(publicKeyOf(randomBytes(32))).toString('base64');
    expect((await register(registration('7', { bouncerPublicKey: stranger }))).status).toBe(200);
    expect(await outcomeOf('7')).toEqual({ status: 'failed', error_code: 'INVALID_BOUNCER_PUBLIC_KEY' });
    const broken = {
      ...registration('8'),
      encrypted_push_registration: Buffer.alloc(120, 7).toString('base64'),
    };
    expect((await register(broken)).status).toBe(200);
    expect(await outcomeOf('8')).toEqual({ status: 'failed', error_code: 'BAD_REQUEST' });
    expect(await pushDevices()).toMatchObject({ 7: { status: 'failed' }, 8: { status: 'failed' } });
  });

  it('but refuses at once when it has no relay', async () => {
    const server = await world.startServer({
      SERVER_RELAY_URL: '',
      SERVER_RELAY_SERVER_ID: '',
      SERVER_RELAY_SERVER_KEY_FILE: '',
    });
    const answer = await register(registration('1'));
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      {
        result: 'error',
        msg: 'Server is not configured to use push notification service.',
        code: 'PUSH_SERVICE_NOT_CONFIGURED',
      },
    ]);
    expect(await pushDevices()).toEqual({});
    await server.end();
  });
});
