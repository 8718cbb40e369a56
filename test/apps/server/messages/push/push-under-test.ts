import { type ChannelId, parseJson } from '@waxwing/protocol';
import { roles } from '@waxwing/server';
import { afterAll, beforeAll, expect } from 'vitest';
import { openSealed } from '../../../../support/noble-oracle.js';
import { notified, registered } from '../../../../support/relay-stand-in.js';
import type { TestBackend } from '../../../../support/test-databases.js';
import type { OrganisationUnderTest } from '../../organisation-under-test.js';
import { type Account, ServerUnderTest, type TestPhone, testPhone } from '../../server-under-test.js';
import { addChannel, type ChannelWish, subscribe } from '../chat-under-test.js';

type Fields = Record<string, string>;

/** A server with two users: Ada, who has a phone, and Bob, who is an administrator. */
export class PushUnderTest {
  server!: ServerUnderTest;
  ada!: Account;
  bob!: Account;
  #phone!: TestPhone;

  async start(databaseUrl: string): Promise<void> {
    this.server = await ServerUnderTest.start({ databaseUrl });
    this.ada = await this.server.addAccount('ada@example.com');
    this.bob = await this.server.addAccount('bob@example.com', { role: roles.administrator });
    this.#phone = testPhone('7');
    this.server.relay.next(registered(41));
    await this.server.register(this.ada, this.#phone.fields);
    await this.server.settle();
    this.server.relay.otherwise(notified());
  }

  /** The decrypted payloads that Ada's phone got while `action` ran. */
  async arriving(action: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
    const { relay } = this.server;
    const before = relay.requests.length;
    await action();
    await this.server.settle();
    const sent = relay.requests.slice(before).flatMap(({ body }) => {
      const { push_requests } = parseJson(body) as unknown as {
        push_requests: { payload: { encrypted_data: string } }[];
      };
      return push_requests;
    });
    return sent.map(({ payload }) => {
      const sealed = Buffer.from(payload.encrypted_data, 'base64');
      const opened = openSealed(sealed, this.#phone.publicKey, this.#phone.privateKey);
      return JSON.parse(Buffer.from(opened ?? []).toString());
    });
  }

  /** The payloads that arrive after `action`, for messages that `before` sent while the relay was down. */
  async arrivingLater(
    before: () => Promise<unknown>,
    action: () => Promise<unknown>,
  ): Promise<Record<string, unknown>[]> {
    this.server.relay.otherwise({ status: 503 });
    // The server tries to push the message, but the relay answers 503, so the push stays queued.
    expect(await this.arriving(before)).not.toEqual([]);
    await action();
    await this.server.settle();
    return this.arriving(async () => {
      this.server.relay.otherwise(notified());
      this.server.now += 15 * 60_000;
      await this.server.stop();
      await this.server.boot();
    });
  }

  /** Sends a request that must succeed. */
  async do(
    who: Account,
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    fields: Fields = {},
  ): Promise<Record<string, unknown>> {
    const { body } = await this.server.ask(who, method, path, fields);
    expect(body).toMatchObject({ result: 'success' });
    return body;
  }

  async send(from: Account, fields: Fields): Promise<number> {
    return Number((await this.do(from, 'POST', 'messages', fields)).id);
  }

  sendToChannel(channelId: number, content: string, topic = 't'): Promise<number> {
    return this.send(this.bob, { type: 'channel', to: String(channelId), topic, content });
  }

  get toAda(): Fields {
    return { type: 'direct', to: `[${this.ada.userId}]` };
  }

  get mention(): string {
    return `@**Somebody|${this.ada.userId}**`;
  }

  async channel(members: readonly Account[], wish: ChannelWish = {}): Promise<ChannelId> {
    const organisation = this.#organisation;
    const { id } = await addChannel(organisation, wish);
    for (const { userId } of members) await subscribe(organisation, id, userId);
    return id;
  }

  async join(channelId: ChannelId, { userId }: Account): Promise<void> {
    await subscribe(this.#organisation, channelId, userId);
  }

  async leave(channelId: ChannelId, { userId }: Account): Promise<void> {
    await subscribe(this.#organisation, channelId, userId, false);
  }

  /** The part of an organization that is needed to subscribe users. */
  get #organisation(): OrganisationUnderTest {
    return { server: this.server } as unknown as OrganisationUnderTest;
  }
}

/** The server shared by all tests of a file on this backend. */
export function sharedPush(backend: TestBackend): PushUnderTest {
  const push = new PushUnderTest();
  beforeAll(async () => push.start(await backend.freshUrl()));
  afterAll(() => push.server.close());
  return push;
}
