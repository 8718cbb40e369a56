import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Constellation, ConstellationPhone, ConstellationUser } from '../../support/constellation.js';
import { freePort } from '../../support/free-ports.js';
import { answersHeld } from '../../support/program-answers.js';
import type { SpawnedProcess } from '../../support/spawned-process.js';
import { createCrashWorld } from '../crash/crash-world.js';
import { readDeliveries } from '../crash/vendor-deliveries.js';
import { startNginx } from './nginx.js';

export interface RollingRestartOptions {
  /** Minimum number of requests. More are sent until each process has restarted at least once. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly postgresUrl: string;
  /**
   * Whether processes restart as the next version. The first process of each program then migrates the database.
   * Default: the same version.
   */
  readonly isUpgrade?: boolean;
  tell(sentence: string): void;
}

export interface RollingRestartCounts {
  readonly requests: number;
  readonly restarts: number;
  /** Number of the client's and the servers' requests that got 5xx or no response, except shed requests. */
  readonly failed: number;
  /** Number of requests refused because this machine is too slow for the rate. Not caused by restarts. */
  readonly shed: number;
  /** Number of acknowledged messages that are not stored or did not reach the phone. */
  readonly lost: number;
  /** Number of messages that are stored twice or reached the phone twice. */
  readonly doubled: number;
  /** Number of databases that the next version has migrated. */
  readonly migrated: number;
}

/** Longer than `keepalive_timeout` in deploy/nginx/upstreams.conf. */
const drainSeconds = 6;
/** Number of users. Large, because a slow machine queues concurrent requests of the same user. */
const users = 31;
const settleMilliseconds = 120_000;
const asNextVersion = {
  NODE_OPTIONS: [answersHeld.NODE_OPTIONS, `--import=${new URL('next-version.mjs', import.meta.url)}`].join(
    ' ',
  ),
};

/** A process that can be restarted on the same port. */
interface Member {
  readonly name: string;
  process: SpawnedProcess;
  start(env?: Readonly<Record<string, string>>): Promise<SpawnedProcess>;
}

/**
 * Sends requests at a steady rate through a real nginx, while two relays and two servers on one PostgreSQL restart. One
 * server and one relay restart together, then the other pair, and so on. In an upgrade, one pair of the next version
 * runs beside the old pair until half of the requests are sent. Counts failures, and how often each message arrived.
 */
export async function runRollingRestart(options: RollingRestartOptions): Promise<RollingRestartCounts> {
  const world = await createCrashWorld({ postgresUrl: options.postgresUrl, users: users + 1 });
  const { constellation } = world;
  const { relayEnv, serverEnv } = constellation;
  const first = await freePort(4);
  // nginx listens on the ports to which clients and servers connect.
  const nginx = await startNginx(
    { port: Number(serverEnv.SERVER_PORT), processes: [first, first + 1] },
    { port: Number(relayEnv.RELAY_PORT), processes: [first + 2, first + 3] },
  );
  try {
    const members = await startMembers(constellation, first);
    const [ada, ...others] = world.users as [ConstellationUser, ...ConstellationUser[]];
    const phone = await constellation.phone(ada, { tokenKind: 'fcm', token: 'fcm-rolling-restart' });
    const { code } = await phone.registrar.sync();
    if (code !== 'active') throw new Error(`the phone's registration is ${code}`);
    const load = new MixedLoad(constellation, others, ada, options.requestsPerSecond);
    const hasSent = (requests: number) => load.sent >= requests;
    const { requests } = options;
    const restarting = options.isUpgrade
      ? upgrade(members, requests, hasSent)
      : restartInTurn(members, () => hasSent(requests));
    await load.run(restarting);
    const restarts = await restarting;
    const arrived = new Arrivals(constellation, phone);
    await arrived.wait(load.acknowledged);
    const stored = await storedMessages(serverEnv.SERVER_DATABASE ?? '');
    const failures = [...load.unanswered, ...nginx.failures()];
    const shed = countShed(constellation.output);
    const failed = failures.length - Math.min(shed, failures.filter((line) => line.startsWith('503')).length);
    if (failed > 0) options.tell([...failures, constellation.output, nginx.errors()].join('\n'));
    return {
      requests: load.sent,
      restarts,
      failed,
      shed,
      lost: [...load.acknowledged].filter((id) => !stored.has(id) || !arrived.ids.has(id)).length,
      doubled: arrived.repeated + stored.size - new Set(stored.values()).size,
      migrated: await countMigrated([serverEnv.SERVER_DATABASE, relayEnv.RELAY_DATABASE]),
    };
  } finally {
    await constellation.endProcesses();
    await nginx.close();
    await world.close();
  }
}

/** Starts two servers and two relays. The first server and the first relay migrate the databases. */
async function startMembers(constellation: Constellation, first: number): Promise<readonly Member[]> {
  const members: Member[] = [];
  for (const offset of [0, 2, 1, 3]) {
    const port = String(first + offset);
    const isServer = offset < 2;
    const settings = (prefix: string) => ({
      [`${prefix}_PORT`]: port,
      [`${prefix}_DRAIN_SECONDS`]: String(drainSeconds),
      [`${prefix}_TRUSTED_PROXIES`]: '127.0.0.1',
      [`${prefix}_LOG_LEVEL`]: 'info',
    });
    const start = (env = {}) =>
      isServer
        ? constellation.startServer({ ...settings('SERVER'), ...env })
        : constellation.startRelay({ ...settings('RELAY'), ...env });
    members.push({ name: `${isServer ? 'server' : 'relay'} ${port}`, process: await start(), start });
  }
  return members;
}

/** Restarts pairs in turn, each at least once, until `isEnough`. Resolves to the number of restarts. */
async function restartInTurn(members: readonly Member[], isEnough: () => boolean): Promise<number> {
  let restarts = 0;
  do {
    for (const pair of [members.slice(0, 2), members.slice(2)]) restarts += await restartPair(pair);
  } while (!isEnough());
  return restarts;
}

/** Restarts one pair as the next version until half of the requests are sent, then the other until all are. */
async function upgrade(
  members: readonly Member[],
  requests: number,
  hasSent: (requests: number) => boolean,
): Promise<number> {
  let restarts = 0;
  const halves = [members.slice(0, 2), members.slice(2)].entries();
  for (const [index, pair] of halves) {
    do restarts += await restartPair(pair, asNextVersion);
    while (!hasSent((requests * (index + 1)) / 2));
  }
  return restarts;
}

async function restartPair(pair: readonly Member[], env?: Readonly<Record<string, string>>): Promise<number> {
  await Promise.all(pair.map((member) => restart(member, env)));
  return pair.length;
}

async function restart(member: Member, env?: Readonly<Record<string, string>>): Promise<void> {
  const status = await member.process.end();
  if (status !== 0) throw new Error(`${member.name} exited with status ${status}:\n${member.process.output}`);
  member.process = await member.start(env);
}

/**
 * Sends requests at a steady rate. Out of six requests, one sends a direct message, three read from servers, and two
 * read from relays.
 */
class MixedLoad {
  sent = 0;
  /** Ids of acknowledged messages. */
  readonly acknowledged = new Set<number>();
  readonly unanswered: string[] = [];
  readonly #constellation: Constellation;
  readonly #senders: readonly ConstellationUser[];
  readonly #to: string;
  readonly #requestsPerSecond: number;

  constructor(
    constellation: Constellation,
    senders: readonly ConstellationUser[],
    to: ConstellationUser,
    requestsPerSecond: number,
  ) {
    this.#constellation = constellation;
    this.#senders = senders;
    this.#to = JSON.stringify([to.user_id]);
    this.#requestsPerSecond = requestsPerSecond;
  }

  /** Sends requests until `work` ends, and waits for the last responses. */
  async run(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    // Ignored here: an error of `work` is thrown below, after the last responses.
    over.catch(() => undefined);
    const answers: Promise<void>[] = [];
    const beganAt = performance.now();
    while (!isOver) {
      answers.push(this.#send());
      await pause(Math.max(0, beganAt + (this.sent * 1000) / this.#requestsPerSecond - performance.now()));
    }
    await Promise.all([over, ...answers]);
  }

  async #send(): Promise<void> {
    this.sent += 1;
    try {
      await this.#request(this.sent);
    } catch (error) {
      this.unanswered.push(`${error}: ${(error as Error).cause}`);
    }
  }

  async #request(number: number): Promise<void> {
    const user = this.#senders[number % this.#senders.length] as ConstellationUser;
    if (number % 6 === 0) return await this.#sendMessage(user, `message ${number}`);
    if (number % 2 === 1) return void (await this.#constellation.request(user, 'GET', 'users/me'));
    const response = await fetch(`${this.#constellation.relayUrl}/api/v1/remotes/push/e2ee/keys`);
    await response.arrayBuffer();
  }

  async #sendMessage(from: ConstellationUser, content: string): Promise<void> {
    const form = { type: 'direct', to: this.#to, content };
    const answer = await this.#constellation.request(from, 'POST', 'messages', form);
    if (answer.status === 200) this.acknowledged.add((JSON.parse(answer.text) as { id: number }).id);
  }
}

/** Records the messages that reach a phone. */
class Arrivals {
  readonly ids = new Set<number>();
  repeated = 0;
  #read = 0;
  readonly #constellation: Constellation;
  readonly #phone: ConstellationPhone;

  constructor(constellation: Constellation, phone: ConstellationPhone) {
    this.#constellation = constellation;
    this.#phone = phone;
  }

  /** Resolves when all of `ids` have arrived, or two minutes after the last arrival. */
  async wait(ids: ReadonlySet<number>): Promise<void> {
    let progressAt = performance.now();
    const isComplete = () => [...ids].every((id) => this.ids.has(id));
    while (!isComplete() && performance.now() - progressAt < settleMilliseconds) {
      const before = this.ids.size;
      await this.#readNew();
      if (this.ids.size > before) progressAt = performance.now();
      else await pause(200);
    }
  }

  async #readNew(): Promise<void> {
    const deliveries = await readDeliveries(this.#constellation.vendors.urls.http);
    for (const { encrypted, key } of deliveries.slice(this.#read)) {
      const opened = await this.#phone.client.open({ [key.name]: key.id, encrypted_data: encrypted });
      if (opened.kind === 'ignored') this.repeated += 1;
      else if (opened.kind === 'notification' && opened.notification.type === 'message')
        this.ids.add(Number(opened.notification.message_id));
    }
    this.#read = deliveries.length;
  }
}

/**
 * Number of requests that the processes refused because of overload. Requests that waited too long share one log line
 * per second, which contains their number.
 */
function countShed(output: string): number {
  const waited = output.matchAll(/"requests":(\d+),"msg":"this process is overloaded/g);
  const single = output.split('"refused":"overload"').length - 1;
  return single + [...waited].reduce((sum, [, requests]) => sum + Number(requests), 0);
}

/** Texts of all stored messages, by message id. */
async function storedMessages(url: string): Promise<ReadonlyMap<number, string>> {
  const rows = await query<{ id: string; content: string }>(url, 'select id, content from messages');
  return new Map(rows.map(({ id, content }) => [Number(id), content]));
}

async function countMigrated(urls: readonly (string | undefined)[]): Promise<number> {
  const tables = await Promise.all(
    urls.map((url = '') => query(url, "select to_regclass('next_things') as found")),
  );
  return tables.filter(([row]) => row?.found !== null).length;
}

async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
