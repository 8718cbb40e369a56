import type { AddressInfo } from 'node:net';
import { Secret } from '@waxwing/service/config';
import { AddressRanges } from '@waxwing/service/http-settings';
import { openServerDatabase } from '#server/open-database.js';
import type { ServerDatabase, ServerTransaction } from '#server/tables.js';
import { type Account, ServerUnderTest } from '../../apps/server/server-under-test.js';
import { HeldOpen } from '../../support/held-open.js';
import { registered } from '../../support/relay-stand-in.js';
import { type Answer, ask, form, type Question, question } from './ask.js';
import type { Place } from './limit.js';

type Fields = Readonly<Record<string, string>>;

/** A proxy's address, from which the server trusts forwarded client addresses. */
export const proxyAddress = '127.0.0.1';

/** A listening server with low limits, a fixed clock, and two users: a greedy one and a modest one. */
export class ServerUnderLimits implements Place {
  readonly test: ServerUnderTest;
  readonly url: string;
  #greedy: Account;
  readonly #modest: Account;
  readonly #held = new HeldOpen();
  #accounts = 0;

  private constructor(test: ServerUnderTest, accounts: readonly [Account, Account]) {
    this.test = test;
    [this.#greedy, this.#modest] = accounts;
    this.url = `http://127.0.0.1:${(test.server.app.server.address() as AddressInfo).port}`;
  }

  static async start(databaseUrl: string, longPollTimeoutSeconds = 60): Promise<ServerUnderLimits> {
    const trustedProxies = new AddressRanges([proxyAddress]);
    const http = { maximumRequestsPerActor: 5, checkEveryMilliseconds: 20, trustedProxies };
    const uploads = { quotaBytes: 1024 * 1024 };
    const limits = { longPollTimeoutSeconds, registrationsPerHour: 5, offersWebPublicChannels: true };
    const test = await ServerUnderTest.start({ databaseUrl, http, uploads, ...limits });
    test.relay.otherwise(registered(1));
    await test.server.app.listen({ host: '127.0.0.1', port: 0 });
    const accounts = [
      await test.addAccount('greedy-0@example.com'),
      await test.addAccount('modest@example.com'),
    ] as const;
    return new ServerUnderLimits(test, accounts);
  }

  /** The greedy user. */
  get greedy(): Account {
    return this.#greedy;
  }

  /** Replaces the greedy user by a new user, who has not sent any requests. */
  async begin(): Promise<void> {
    this.#accounts += 1;
    this.#greedy = await this.test.addAccount(`greedy-${this.#accounts}@example.com`);
  }

  metricsText(): Promise<string> {
    return this.test.server.metrics.text();
  }

  honest(): readonly Question[] {
    const { authorization } = this.#modest;
    const all = [
      form(`${this.url}/api/v1/register`, authorization, { event_types: '["message"]' }),
      { url: `${this.url}/health/live` },
      { url: `${this.url}/health/ready` },
      question(`${this.url}/api/v1/users/me`, authorization),
    ];
    return all.map((one) => ({ ...one, localAddress: '127.0.0.2' }));
  }

  /** Sends a request as the greedy user. */
  ask(method: NonNullable<Question['method']>, path: string, fields: Fields = {}): Promise<Answer> {
    const { authorization } = this.#greedy;
    const url = `${this.url}/api/v1/${path}`;
    if (method !== 'GET') return ask({ ...form(url, authorization, fields), method });
    return ask(question(`${url}?${new URLSearchParams(fields)}`, authorization));
  }

  /** Runs `begin` in a transaction of another process. The transaction stays open until it is released. */
  hold(begin: (transaction: ServerTransaction) => Promise<unknown>): Promise<void> {
    return this.#held.hold(async (stay) => {
      const url = new Secret(this.test.databaseUrl);
      const clock = () => this.test.now;
      const options = { url, clock, role: 'visiting', onJobError: () => undefined } as const;
      const database = await openServerDatabase(options);
      try {
        await holdIn(database, begin, stay);
      } finally {
        await database.close();
      }
    });
  }

  /** Runs `begin` in a transaction of the server. The transaction stays open until it is released. */
  holdOwn(begin: (transaction: ServerTransaction) => Promise<unknown>): Promise<void> {
    return this.#held.hold((stay) => holdIn(this.test.server.database, begin, stay));
  }

  get isOnPostgres(): boolean {
    return this.test.databaseUrl.startsWith('postgres');
  }

  release(): Promise<void> {
    return this.#held.release();
  }

  close(): Promise<void> {
    return this.test.close();
  }
}

function holdIn(
  database: ServerDatabase,
  begin: (transaction: ServerTransaction) => Promise<unknown>,
  stay: () => Promise<void>,
): Promise<void> {
  return database.write(async (transaction) => {
    await begin(transaction);
    await stay();
  });
}
