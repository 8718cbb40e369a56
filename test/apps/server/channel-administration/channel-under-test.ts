import { expect } from 'vitest';
import { channelId } from '../../../support/ids.js';
import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { Answer } from '../server-under-test.js';

type Who = Parameters<OrganisationUnderTest['ask']>[0];
type Fields = Record<string, unknown>;

/** A channel that belongs to one test. */
export class ChannelUnderTest {
  id = channelId(0);
  name = '';
  readonly #organisation: OrganisationUnderTest;

  constructor(organisation: OrganisationUnderTest) {
    this.#organisation = organisation;
  }

  /** Creates the channel. Its creator becomes a subscriber. */
  async make(who: Who = 'member', fields: Fields = {}): Promise<void> {
    this.name = this.#organisation.newName();
    const subscriptions = [{ name: this.name }];
    await this.#organisation.do(who, 'POST', 'users/me/subscriptions', { subscriptions, ...fields });
    const row = await this.#organisation.server.server.database.db
      .selectFrom('channels')
      .select('id')
      .where('name', '=', this.name)
      .executeTakeFirstOrThrow();
    this.id = row.id;
  }

  async add(...whom: Who[]): Promise<void> {
    const { database } = this.#organisation.server.server;
    const rows = whom.map((who) => ({
      channel_id: this.id,
      user_id: this.#organisation.id(who),
      is_active: 1,
      color: '#76ce90',
      is_muted: 0,
      pin_to_top: 0,
    }));
    await database.write(({ db }) => db.insertInto('subscriptions').values(rows).execute());
  }

  update(who: Who, fields: Fields): Promise<Answer> {
    return this.#organisation.ask(who, 'PATCH', `streams/${this.id}`, fields);
  }

  async updated(who: Who, fields: Fields): Promise<void> {
    await this.#organisation.do(who, 'PATCH', `streams/${this.id}`, fields);
  }

  /** Expects that the change fails with this message and changes nothing. */
  async refuses(who: Who, fields: Fields, message: string, code = 'BAD_REQUEST'): Promise<void> {
    const before = await this.read();
    const { status, body } = await this.update(who, fields);
    expect([status, body.code, body.msg]).toEqual([400, code, message]);
    expect(await this.read()).toEqual(before);
  }

  async read(who: Who = 'owner'): Promise<Fields> {
    const { stream } = await this.#organisation.do(who, 'GET', `streams/${this.id}`);
    return stream as Fields;
  }

  /** The channel's messages, oldest first. */
  async messages(): Promise<{ topic: string; content: string }[]> {
    const { db } = this.#organisation.server.server.database;
    const messages = db.selectFrom('messages').where('channel_id', '=', this.id);
    return messages.select(['topic', 'content']).orderBy('id').execute();
  }
}
