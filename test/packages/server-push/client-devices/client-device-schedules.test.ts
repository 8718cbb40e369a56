import type { ClientDeviceId, ClientDeviceOnWire, JsonObject, UserId } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import fc from '../../../support/fast-check.js';
import { userId as user } from '../../../support/ids.js';
import { keyGroup, PushServer, tokenGroup, tokenIdOf } from '../../../support/push-server.js';
import { eachBackend } from '../../../support/test-databases.js';

const users = [user(7), user(8)];
const hour = 3_600_000;

type OfAccount = 'create' | 'remove' | 'notify' | 'register' | 'rotate-key' | 'rotate-token';
type Step =
  | { readonly kind: OfAccount; readonly account: number }
  /** All accounts on a phone share one token, which is replaced from time to time. */
  | { readonly kind: 'new-token' | 'token-dies'; readonly phone: number }
  | { readonly kind: 'relay'; readonly is: 'up' | 'down' | 'refusing' }
  | { readonly kind: 'pass'; readonly hours: number }
  | { readonly kind: 'restart' };

const account = fc.integer({ min: 0, max: 3 });
const phone = fc.integer({ min: 0, max: 1 });
const ofAccount = (kind: OfAccount) => account.map((chosen): Step => ({ kind, account: chosen }));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: ofAccount('create') },
  { weight: 6, arbitrary: ofAccount('register') },
  { weight: 2, arbitrary: ofAccount('rotate-key') },
  { weight: 3, arbitrary: ofAccount('rotate-token') },
  { weight: 1, arbitrary: ofAccount('remove') },
  { weight: 4, arbitrary: ofAccount('notify') },
  { weight: 2, arbitrary: phone.map((chosen): Step => ({ kind: 'new-token', phone: chosen })) },
  { weight: 1, arbitrary: phone.map((chosen): Step => ({ kind: 'token-dies', phone: chosen })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('up', 'down', 'refusing').map((is): Step => ({ kind: 'relay', is })),
  },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 30 }).map((hours): Step => ({ kind: 'pass', hours })) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
);

/** What a phone knows about its device. */
interface KnownDevice {
  readonly id: ClientDeviceId;
  readonly userId: UserId;
  key: number | null;
}

/** Two phones, each with one account of each user, and one server. */
class World {
  readonly server: PushServer;
  /**
   * Devices by account number. Odd and even numbers belong to the two users, the lower and upper halves to the two
   * phones.
   */
  readonly devices = new Map<number, KnownDevice>();
  readonly #tokens = [0, 0];
  #keys = 0;

  constructor(server: PushServer) {
    this.server = server;
  }

  async take(step: Step): Promise<void> {
    const { relay } = this.server;
    if (step.kind === 'relay') {
      relay.isDown = step.is === 'down';
      relay.refusal = step.is === 'refusing' ? 'BAD_REQUEST' : undefined;
    } else if (step.kind === 'pass') await this.server.pass(step.hours * hour);
    else if (step.kind === 'restart') {
      await this.server.stop();
      await this.server.boot();
    } else if ('account' in step) await this.#act(step);
    else if (step.kind === 'new-token') this.#tokens[step.phone] = (this.#tokens[step.phone] ?? 0) + 1;
    else relay.tokens.delete(tokenIdOf(this.#tokenOf(step.phone * 2)));
    await this.server.settle();
    await this.check();
  }

  async #act({ kind, account: chosen }: Extract<Step, { account: number }>): Promise<void> {
    const userId = users[chosen % 2] as UserId;
    if (kind === 'notify') return this.#notify(userId);
    const device = this.devices.get(chosen);
    if (kind === 'create') {
      // The app is reinstalled, and the server keeps the old device.
      this.devices.set(chosen, { id: await this.server.createDevice(userId), userId, key: null });
    } else if (device === undefined) return;
    else if (kind === 'remove') {
      await this.server.ask(userId, 'remove_client_device', { device_id: String(device.id) });
      this.devices.delete(chosen);
    } else await this.#register(kind, chosen, device);
  }

  async #register(kind: 'register' | 'rotate-key' | 'rotate-token', chosen: number, device: KnownDevice) {
    const key = (this.#keys % 250) + 1;
    const fields = {
      ...(kind !== 'rotate-token' && keyGroup(key)),
      ...(kind !== 'rotate-key' && tokenGroup(this.#tokenOf(chosen))),
    };
    this.#keys += 1;
    const answer = await this.server.register(device.userId, device.id, fields);
    if (typeof answer !== 'string' && kind !== 'rotate-token') device.key = key;
  }

  #tokenOf(chosen: number): string {
    const phone = Math.floor(chosen / 2);
    return `token ${phone} ${this.#tokens[phone]}`;
  }

  /**
   * Notifies a user. Expects each phone to get the notification at most once, only if it has a device, and with the
   * device's newest key.
   */
  async #notify(userId: UserId): Promise<void> {
    const { relay } = this.server;
    const wanted = new Map<string, number | null>();
    for (const [id, state] of Object.entries(await this.server.push.clientDevicesOf(userId))) {
      const token = state.push_token_id;
      const known = [...this.devices.values()].find((device) => String(device.id) === id);
      if (token === null || relay.isDown || !relay.tokens.has(token)) continue;
      expect(wanted.has(token)).toBe(false);
      wanted.set(token, known === undefined ? state.push_key_id : known.key);
    }
    relay.deliveries.length = 0;
    await this.server.notify(userId);
    expect(relay.deliveries.map(({ tokenId, keyId }) => [tokenId, keyId])).toEqual([...wanted]);
  }

  /**
   * Checks that the state derived from events equals the server's response, and that no registration is pending for
   * more than a day.
   */
  async check(): Promise<void> {
    for (const userId of users) {
      const devices = await this.server.push.clientDevicesOf(userId);
      expect(sumOf(this.server.eventsOf(userId))).toEqual(devices);
      for (const state of Object.values(devices)) {
        if (state.pending_push_token_id === null || state.push_registration_error_code !== null) continue;
        const since = (state.push_token_last_updated_timestamp ?? 0) * 1000;
        expect(this.server.now - since).toBeLessThan(24 * hour);
      }
    }
    const known = [...this.devices.values()].map(({ id }) => String(id));
    const ofUsers = await Promise.all(users.map((userId) => this.server.push.clientDevicesOf(userId)));
    expect(ofUsers.flatMap((devices) => Object.keys(devices))).toEqual(expect.arrayContaining(known));
  }

  /**
   * Ends the relay's outage. Expects that every phone that registers gets notifications, and that the relay has no
   * unused tokens.
   */
  async settleEverything(): Promise<void> {
    await this.take({ kind: 'relay', is: 'up' });
    await this.take({ kind: 'pass', hours: 25 });
    for (const chosen of this.devices.keys()) await this.take({ kind: 'register', account: chosen });
    await this.take({ kind: 'pass', hours: 2 });
    const ofUsers = await Promise.all(users.map((userId) => this.server.push.clientDevicesOf(userId)));
    const states = ofUsers.flatMap((devices) => Object.entries(devices));
    for (const [chosen, { id }] of this.devices) {
      const state = states.find(([name]) => name === String(id))?.[1];
      expect(state).toMatchObject({
        push_token_id: tokenIdOf(this.#tokenOf(chosen)),
        pending_push_token_id: null,
      });
    }
    for (const chosen of [...this.devices.keys()]) await this.take({ kind: 'remove', account: chosen });
    await this.take({ kind: 'pass', hours: 2 });
    await this.#expectNoUnusedTokens();
    for (const chosen of [0, 1]) await this.take({ kind: 'notify', account: chosen });
  }

  async #expectNoUnusedTokens(): Promise<void> {
    const ofUsers = await Promise.all(users.map((userId) => this.server.push.clientDevicesOf(userId)));
    const used = ofUsers.flatMap((devices) =>
      Object.values(devices).flatMap((state) => state.push_token_id ?? []),
    );
    expect([...this.server.relay.tokens].filter((token) => !used.includes(token as never))).toEqual([]);
  }
}

/** Derives the devices from the events of a queue, as a client does. */
function sumOf(events: readonly JsonObject[]): Record<string, ClientDeviceOnWire> {
  const devices: Record<string, ClientDeviceOnWire> = {};
  for (const { type: _type, op, device_id: id, ...fields } of events) {
    if (op === 'remove') delete devices[String(id)];
    else if (op === 'add') devices[String(id)] = created;
    else devices[String(id)] = { ...created, ...devices[String(id)], ...fields };
  }
  return devices;
}

const created: ClientDeviceOnWire = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};

const schedulesPerBackend = { sqlite: 20, postgres: 8 };

eachBackend((backend) => {
  it('no device is stuck, notified twice or notified after its removal, in any schedule', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
        const server = await PushServer.start(backend);
        try {
          const world = new World(server);
          for (const each of steps) await world.take(each);
          await world.settleEverything();
        } finally {
          await server.close();
        }
      }),
      { numRuns: schedulesPerBackend[backend.name] },
    );
  }, 480_000);
});
