import { type ClientDeviceId, encodeBase64 } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { HeldAnswers } from '../../support/held-answers.js';
import { userId as user } from '../../support/ids.js';
import { keyGroup, PushServer, tokenGroup, tokenIdOf } from '../../support/push-server.js';
import { eachBackend } from '../../support/test-databases.js';

const ada = user(7);
const token = tokenIdOf('token');

eachBackend((backend) => {
  type Step =
    | { readonly kind: 'older'; readonly account: string; readonly isRefused: boolean }
    | { readonly kind: 'newer' | 'again'; readonly isRefused: boolean }
    | { readonly kind: 'hold' | 'release' | 'release-newest' | 'settle' | 'down' | 'up' };
  const isRefused = fc.boolean();
  const account = fc.constantFrom('1', '2', '3');
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('older' as const), account, isRefused }),
    fc.record({ kind: fc.constantFrom('newer' as const, 'again' as const), isRefused }),
    fc
      .constantFrom('hold', 'release', 'release-newest', 'settle', 'down', 'up')
      .map((kind): Step => ({ kind })),
  );

  /** A phone with one token, which registers in both generations. */
  class Phone {
    readonly server: PushServer;
    readonly held: HeldAnswers;
    /** Whether the relay accepts the newest registration of each account or device, in the order of registration. */
    readonly newest = new Map<string, boolean>();
    #device: ClientDeviceId | undefined;

    constructor(server: PushServer) {
      this.server = server;
      this.held = new HeldAnswers(server);
      server.relay.accountsOfToken.set(token, [1, 2, 3]);
    }

    async take(next: Step): Promise<void> {
      const { held, server } = this;
      server.now += 1;
      if ('isRefused' in next) await this.#register(next);
      else if (next.kind === 'hold') held.isHolding = true;
      else if (next.kind === 'release') held.releaseAll();
      else if (next.kind === 'release-newest') {
        const { count } = held;
        held.releaseNewest();
        if (count > 0) await expect.poll(() => held.count).toBeLessThan(count + 1);
      } else if (next.kind === 'settle') await this.settle();
      else server.relay.isDown = next.kind === 'down';
    }

    async settle(): Promise<void> {
      this.held.releaseAll();
      await this.server.settle();
    }

    async #register(next: Extract<Step, { isRefused: boolean }>): Promise<void> {
      const { server } = this;
      if (next.isRefused) {
        const text = encodeBase64(Buffer.from(String(server.now).padEnd(100)));
        server.relay.refusedTexts.add(text);
      }
      if (next.kind === 'older') {
        await server.registerAccount(ada, next.account);
        this.#note(next.account, next.isRefused);
        return;
      }
      const isNew = next.kind === 'newer' || this.#device === undefined;
      const id = isNew ? await server.createDevice(ada) : (this.#device as ClientDeviceId);
      this.#device = id;
      const sealed = encodeBase64(Buffer.from(String(server.now).padEnd(100)));
      const group = { ...keyGroup(1), ...tokenGroup('token'), encrypted_push_registration: sealed };
      const before = (await server.push.clientDevicesOf(ada))[id];
      await server.register(ada, id, group);
      // A device keeps its registration if it has the token, active or pending.
      const isPending =
        before?.pending_push_token_id !== null && before?.push_registration_error_code === null;
      if (before?.push_token_id === null && !isPending) this.#note(`device ${id}`, next.isRefused);
    }

    #note(name: string, refused: boolean): void {
      this.newest.delete(name);
      this.newest.set(name, !refused);
    }
  }

  it('a phone with one token is notified once, through its last registration, in any order of events', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14, size: 'max' }), async (steps) => {
        const server = await PushServer.start(backend);
        const phone = new Phone(server);
        const { relay } = server;
        try {
          for (const each of steps) await phone.take(each);
          relay.isDown = false;
          await phone.settle();
          await server.pass(2 * 3_600_000);
          const newer = Object.entries(await server.push.clientDevicesOf(ada)).flatMap(([id, device]) =>
            device.push_token_id === null ? [] : [`device ${id}`],
          );
          await server.notify(ada);
          const accepted = [...phone.newest.values()];
          if (accepted.includes(true)) expect(relay.deliveries).toHaveLength(1);
          expect(relay.deliveries.length).toBeLessThan(2);
          if (accepted.at(-1) === true) {
            const last = [...phone.newest.keys()].at(-1);
            const older = Object.entries(await server.push.pushDevicesOf(ada)).flatMap(
              ([name, { status }]) => (status === 'active' ? [name] : []),
            );
            expect([...older, ...newer]).toEqual([last]);
          }
          expect([...relay.tokens]).toEqual(newer.length === 0 ? [] : [token]);
        } finally {
          phone.held.releaseAll();
          await server.close();
        }
      }),
      { numRuns: backend.name === 'sqlite' ? 60 : 15 },
    );
  }, 480_000);
});
