import { expect } from 'vitest';
import { OrganisationUnderTest } from '../organisation-under-test.js';

export type Row = Record<string, unknown>;

/** The organization in which the proofs for all levels run. */
export class LevelsUnderTest extends OrganisationUnderTest {
  channelId = 0;
  #names = 0;

  override async start(databaseUrl: string): Promise<void> {
    await super.start(databaseUrl, { withoutRelay: false });
    await this.do('owner', 'POST', 'users/me/subscriptions', { subscriptions: [{ name: 'levels' }] });
    this.channelId = (await this.do('owner', 'GET', 'get_stream_id', { stream: 'levels' }))
      .stream_id as number;
  }

  /** Returns the register response, which clients read first. */
  async first(more: Row = {}): Promise<Row> {
    return this.do('owner', 'POST', 'register', more);
  }

  async send(content: string): Promise<Row> {
    return this.do('owner', 'POST', 'messages', {
      ...{ type: 'channel', to: this.channelId, topic: this.unused('topic'), content },
    });
  }

  /** A name that no other proof uses. */
  unused(kind: string): string {
    this.#names += 1;
    return `${kind} ${this.#names}`;
  }

  /** Creates a channel as the owner. Returns its id. */
  async channel(parameters: Row = {}): Promise<number> {
    const name = this.unused('channel');
    await this.do('owner', 'POST', 'users/me/subscriptions', { subscriptions: [{ name }], ...parameters });
    return (await this.do('owner', 'GET', 'get_stream_id', { stream: name })).stream_id as number;
  }

  async html(content: string): Promise<unknown> {
    return (await this.do('owner', 'POST', 'messages/render', { content })).rendered;
  }

  /** Returns a message from `GET /messages/{id}`. */
  async message(id: unknown): Promise<Row> {
    return (await this.do('owner', 'GET', `messages/${id}`)).message as Row;
  }

  async refuses(parameters: Parameters<OrganisationUnderTest['ask']>, status: number, msg?: unknown) {
    const answer = await this.ask(...parameters);
    expect([parameters[2], answer.status]).toEqual([parameters[2], status]);
    if (msg !== undefined) expect(answer.body.msg).toEqual(msg);
  }
}

/** Proves over HTTP that a level's features exist, or that the server responds like a server without them. */
export type Proof = (levels: LevelsUnderTest) => Promise<void>;

export const notServed =
  (method: 'GET' | 'POST' | 'PATCH', path: string, status = 404): Proof =>
  (levels) =>
    levels.refuses(['owner', method, path], status);

export const firstAnswer =
  (fields: Row): Proof =>
  async (levels) =>
    void expect(await levels.first()).toMatchObject(fields);
