import { hash, randomBytes } from 'node:crypto';
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

/** Status of a phone's registration: active, pending, or the code of the relay's refusal. */
type Outcome = 'active' | 'pending' | { readonly refused: string };

/** A phone of one protocol generation, with its own implementation of the cryptography. */
interface Peer {
  register(changes?: Record<string, string>): Promise<{ status: number; text: string }>;
  /** The phone's status in the initial state. */
  state(): Promise<Outcome | undefined>;
  /** Reads the phone's status from an event. Returns `undefined` for an event about something else. */
  read(event: Record<string, unknown>): Outcome | undefined;
}

const eventTypes = '["push_device","device"]';

async function initialState() {
  const { text } = await world.request(user, 'POST', 'register', { event_types: eventTypes });
  return JSON.parse(text) as {
    queue_id: string;
    last_event_id: number;
    push_devices: Record<string, { status: string; error_code: string | null }>;
    devices: Record<string, Record<string, string | null>>;
  };
}

/** Resolves to the phone's status when events report that the registration is no longer pending. */
async function outcomeOf(peer: Peer): Promise<Outcome> {
  const { queue_id, last_event_id } = await initialState();
  const now = await peer.state();
  if (now !== undefined && now !== 'pending') return now;
  let lastEventId = last_event_id;
  for (;;) {
    const answer = await world.request(user, 'GET', 'events', {
      queue_id,
      last_event_id: String(lastEventId),
    });
    const { events } = JSON.parse(answer.text) as { events: (Record<string, unknown> & { id: number })[] };
    for (const event of events) {
      lastEventId = event.id;
      const outcome = peer.read(event);
      if (outcome !== undefined) return outcome;
    }
  }
}

function sealedFields(token: string): Record<string, string> {
  const plaintext = JSON.stringify({ token_kind: 'fcm', token, timestamp: Math.floor(Date.now() / 1000) });
  const bouncer = Buffer.from(world.bouncerPublicKey, 'base64');
  const sealed = seal(Buffer.from(plaintext), bouncer, randomBytes(32));
  return {
    token_kind: 'fcm',
    bouncer_public_key: world.bouncerPublicKey,
    encrypted_push_registration: Buffer.from(sealed).toString('base64'),
  };
}

const register = (parameters: Record<string, string>) =>
  world.request(user, 'POST', 'mobile_push/register', parameters);

const refused = (code: unknown): Outcome => ({ refused: String(code) });

async function olderPeer(id = String(randomBytes(8).readBigInt64BE())): Promise<Peer> {
  const fields = {
    push_account_id: id,
    push_public_key: Buffer.from(publicKeyOf(randomBytes(32))).toString('base64'),
    ...sealedFields(`fcm-${id}`),
  };
  return {
    register: (changes = {}) => register({ ...fields, ...changes }),
    async state() {
      const known = (await initialState()).push_devices[id];
      return known?.status === 'failed' ? refused(known.error_code) : (known?.status as Outcome | undefined);
    },
    read({ type, push_account_id, status, error_code }) {
      if (type !== 'push_device' || push_account_id !== id) return undefined;
      return status === 'failed' ? refused(error_code) : (status as Outcome);
    },
  };
}

async function newerPeer(): Promise<Peer> {
  const { text } = await world.request(user, 'POST', 'register_client_device');
  const { device_id: id } = JSON.parse(text) as { device_id: number };
  const token = `fcm-${randomBytes(8).toString('hex')}`;
  const fields = {
    device_id: String(id),
    push_key_id: '7',
    push_key: Buffer.concat([Buffer.of(0x31), randomBytes(32)]).toString('base64'),
    token_id: hash('sha256', token, 'buffer').subarray(0, 8).toString('base64'),
    ...sealedFields(token),
  };
  return {
    register: (changes = {}) => register({ ...fields, ...changes }),
    async state() {
      const device = (await initialState()).devices[id];
      if (device === undefined) return undefined;
      if (device.push_registration_error_code !== null) return refused(device.push_registration_error_code);
      if (device.pending_push_token_id !== null) return 'pending';
      return device.push_token_id === fields.token_id ? 'active' : undefined;
    },
    read({ type, device_id, push_token_id, push_registration_error_code: code }) {
      if (type !== 'device' || device_id !== id) return undefined;
      if (push_token_id === fields.token_id) return 'active';
      return code === undefined || code === null ? undefined : refused(code);
    },
  };
}

describe.each([
  ['older', olderPeer],
  ['newer', newerPeer],
] as const)('a server that accepts registrations in the %s generation', (_generation, createPeer) => {
  it('forwards them once the relay is back', async () => {
    await world.startServer();
    const peer = await createPeer();
    expect(await peer.register()).toEqual({ status: 200, text: '{"result":"success","msg":""}\n' });
    expect(await peer.state()).toBe('pending');
    await world.startRelay();
    expect(await outcomeOf(peer)).toBe('active');
  });

  it('forwards them even if it is killed between accepting and forwarding', async () => {
    const server = await world.startServer();
    const peers = [await createPeer(), await createPeer(), await createPeer()];
    for (const peer of peers) expect((await peer.register()).status).toBe(200);
    await server.end('SIGKILL');
    await world.startRelay();
    await world.startServer();
    for (const peer of peers) expect(await outcomeOf(peer)).toBe('active');
  });

  it('reports the code of a permanent refusal, in the initial state and in an event', async () => {
    await Promise.all([world.startRelay(), world.startServer()]);
    const stranger = Buffer.from(publicKeyOf(randomBytes(32))).toString('base64');
    const [unknown, broken] = [await createPeer(), await createPeer()];
    expect((await unknown.register({ bouncer_public_key: stranger })).status).toBe(200);
    expect(await outcomeOf(unknown)).toEqual({ refused: 'INVALID_BOUNCER_PUBLIC_KEY' });
    const sealed = Buffer.alloc(120, 7).toString('base64');
    expect((await broken.register({ encrypted_push_registration: sealed })).status).toBe(200);
    expect(await outcomeOf(broken)).toEqual({ refused: 'BAD_REQUEST' });
    expect([await unknown.state(), await broken.state()]).toEqual([
      { refused: 'INVALID_BOUNCER_PUBLIC_KEY' },
      { refused: 'BAD_REQUEST' },
    ]);
  });

  it('refuses them immediately if it has no relay', async () => {
    const server = await world.startServer({
      SERVER_RELAY_URL: '',
      SERVER_RELAY_SERVER_ID: '',
      SERVER_RELAY_SERVER_KEY_FILE: '',
    });
    const peer = await createPeer();
    const answer = await peer.register();
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      {
        result: 'error',
        msg: 'Server is not configured to use push notification service.',
        code: 'PUSH_SERVICE_NOT_CONFIGURED',
      },
    ]);
    expect(await peer.state()).toBeUndefined();
    await server.end();
  });
});

it('the server forwards push account ids from the whole range of 64-bit integers', async () => {
  await Promise.all([world.startRelay(), world.startServer()]);
  for (const id of ['9223372036854775807', '1', '-5', '4611686018427387905']) {
    const peer = await olderPeer(id);
    expect((await peer.register()).status).toBe(200);
    expect(await outcomeOf(peer)).toBe('active');
  }
});
