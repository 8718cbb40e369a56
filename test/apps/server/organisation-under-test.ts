import type { GroupId, UserId } from '@waxwing/protocol';
import { roles } from '@waxwing/server';
import { afterAll, beforeAll } from 'vitest';
import { groupId } from '../../support/ids.js';
import type { TestBackend } from '../../support/test-databases.js';
import { type Account, type Answer, ServerUnderTest, type TestServerOptions } from './server-under-test.js';

type Who = keyof typeof roles | 'bot' | 'second';
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
type ServerSettings = Pick<
  TestServerOptions,
  'uploads' | 'offersWebPublicChannels' | 'invitationValidityMinutes' | 'withoutRelay'
>;

/** A group in the response of `GET /user_groups`. */
export interface GroupOnWire {
  readonly id: number;
  readonly name: string;
  readonly members: number[];
  readonly direct_subgroup_ids: number[];
  readonly [field: string]: unknown;
}

/** A server with a user of each role, a second member and a bot, shared by all tests of a file on one backend. */
export class OrganisationUnderTest {
  server!: ServerUnderTest;
  readonly accounts = {} as Record<Who, Account>;
  #names = 0;

  async start(databaseUrl: string, options: ServerSettings = {}): Promise<void> {
    this.server = await ServerUnderTest.start({ withoutRelay: true, ...options, databaseUrl });
    for (const [name, role] of Object.entries(roles)) {
      this.accounts[name as Who] = await this.server.addAccount(`${name}@example.com`, { role });
    }
    this.accounts.second = await this.server.addAccount('second@example.com');
    this.accounts.bot = await this.server.addAccount('bot@example.com', { isBot: true });
    // Waits for the scheduled jobs that run when a server starts.
    await this.server.settle();
  }

  id(who: Who): UserId {
    return this.accounts[who].userId;
  }

  /** Sends string parameters unchanged, and other values as JSON. */
  ask(who: Who, method: Method, path: string, parameters: Record<string, unknown> = {}): Promise<Answer> {
    const texts = Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    return this.server.ask(this.accounts[who], method, path, Object.fromEntries(texts));
  }

  /** Sends a request that must succeed. */
  async do(
    who: Who,
    method: Method,
    path: string,
    parameters: Record<string, unknown> = {},
  ): Promise<Record<string, unknown>> {
    const { status, body } = await this.ask(who, method, path, parameters);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** All groups by name, including deactivated groups. */
  async groups(): Promise<Record<string, GroupOnWire>> {
    const { user_groups: groups } = await this.do('owner', 'GET', 'user_groups', {
      include_deactivated_groups: true,
    });
    return Object.fromEntries((groups as GroupOnWire[]).map((group) => [group.name, group]));
  }

  async roleGroup(name: string): Promise<GroupId> {
    return groupId((await this.groups())[`role:${name}`]?.id ?? 0);
  }

  /** Returns a name that no test has used. */
  newName(): string {
    this.#names += 1;
    return `group ${this.#names}`;
  }

  /** Opens a queue for a user's events. The returned function reads the events so far, without their IDs. */
  async watch(
    who: Who = 'guest',
    parameters: Record<string, string> = {},
  ): Promise<() => Promise<unknown[]>> {
    const read = await this.server.openQueue(this.accounts[who], parameters);
    return async () => (await read()).map(({ id: _, ...event }) => event);
  }
}

/** The organization shared by all tests of a file on this backend. */
export function sharedOrganisation(
  backend: TestBackend,
  settings: ServerSettings = {},
): OrganisationUnderTest {
  const organisation = new OrganisationUnderTest();
  beforeAll(async () => organisation.start(await backend.freshUrl(), settings));
  afterAll(() => organisation.server.close());
  return organisation;
}
