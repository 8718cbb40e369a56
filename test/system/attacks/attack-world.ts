import {
  keyListPath,
  registerPushDevicePath,
  relayNotifyPath,
  relayRegisterPath,
  stringifyJson,
} from '@waxwing/protocol';
import { addUsers } from '../../support/add-users.js';
import { Constellation } from '../../support/constellation.js';
import { freePort } from '../../support/free-ports.js';
import type { SpawnedProcess } from '../../support/spawned-process.js';
import { createTemporaryPostgres, type TemporaryPostgres } from '../../support/temporary-postgres.js';
import { ask, askPatiently, basicAuthorization } from '../crash/ask.js';
import type { HonestRequest } from './honest-user.js';
import { ProcessProbe, probedEnvironment } from './process-probe.js';
import { newPhone, RelayMember } from './relay-member.js';

export interface AttackWorldOptions {
  /**
   * URL of the PostgreSQL server on which databases for the relay and the server are created. Default: SQLite files.
   */
  readonly postgresUrl?: string | undefined;
  /** Settings of both the relay and the server, without the prefix of their names. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Additional server settings, with the prefix of their names. */
  readonly server?: Readonly<Record<string, string>>;
  /** Maximum number of in-flight requests: per server on the relay, and per user on the server. */
  readonly requestsPerActor?: number;
  /** The relay's rate limit per server. */
  readonly notificationsPerMinute?: number;
}

/** A program's paths that accept bodies, and a path that is open to unauthenticated clients. */
interface Paths {
  readonly form: string;
  readonly json: string;
  readonly open: string;
}

/** One of the two programs, with the credentials of its attacker and the requests of an honest user. */
export interface Target {
  readonly name: 'relay' | 'server';
  readonly paths: Paths;
  readonly url: string;
  readonly port: number;
  readonly process: SpawnedProcess;
  readonly probe: ProcessProbe;
  /** Credentials of the attacker: another organization on the relay, or another user on the server. */
  readonly attackerAuthorization: string;
  /** Requests that an honest user sends during the attack. */
  readonly honest: readonly HonestRequest[];
}

export interface AttackWorld {
  readonly constellation: Constellation;
  readonly relay: Target;
  readonly server: Target;
  close(): Promise<void>;
}

const form = 'application/x-www-form-urlencoded';
const relayPaths: Paths = { form: relayRegisterPath, json: relayNotifyPath, open: keyListPath };
const serverPaths: Paths = {
  form: registerPushDevicePath,
  json: registerPushDevicePath,
  open: '/api/v1/events',
};

/** Creates a relay and a server to be attacked, each in a separate process. */
export async function createAttackWorld(options: AttackWorldOptions): Promise<AttackWorld> {
  const { postgresUrl, settings = {}, requestsPerActor = 100, notificationsPerMinute = 150_000 } = options;
  const databases = await makeDatabases(postgresUrl);
  const metricsPort = await freePort(2);
  const own = (prefix: string, port: number): Record<string, string> => ({
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [prefix + name, value])),
    [`${prefix}LOG_LEVEL`]: 'warn',
    [`${prefix}METRICS_PORT`]: String(port),
  });
  const [relayDatabase, serverDatabase] = databases.map(({ url }) => url);
  const constellation = await Constellation.create({
    relay: {
      ...own('RELAY_', metricsPort),
      ...(relayDatabase === undefined ? {} : { RELAY_DATABASE: relayDatabase }),
      RELAY_MAXIMUM_REQUESTS_PER_SERVER: String(requestsPerActor),
      RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: String(notificationsPerMinute),
    },
    server: {
      ...own('SERVER_', metricsPort + 1),
      ...(serverDatabase === undefined ? {} : { SERVER_DATABASE: serverDatabase }),
      SERVER_MAXIMUM_REQUESTS_PER_USER: String(requestsPerActor),
      ...options.server,
    },
  });
  try {
    return await start(constellation, databases);
  } catch (error) {
    await close(constellation, databases);
    throw error;
  }
}

async function makeDatabases(postgresUrl: string | undefined): Promise<readonly TemporaryPostgres[]> {
  if (postgresUrl === undefined) return [];
  return [await createTemporaryPostgres(postgresUrl), await createTemporaryPostgres(postgresUrl)];
}

async function close(constellation: Constellation, databases: readonly TemporaryPostgres[]): Promise<void> {
  await constellation.close();
  for (const database of databases) await database.drop();
}

async function start(
  constellation: Constellation,
  databases: readonly TemporaryPostgres[],
): Promise<AttackWorld> {
  const { relayEnv, serverEnv, relayUrl, serverUrl } = constellation;
  const relay = await constellation.startRelay(probedEnvironment);
  const server = await constellation.startServer(probedEnvironment);
  const target = (url: string) => ({ url, port: Number(new URL(url).port) });
  return {
    constellation,
    relay: {
      name: 'relay',
      paths: relayPaths,
      ...target(relayUrl),
      ...(await relayUse(constellation)),
      process: relay,
      probe: new ProcessProbe(relay, relayEnv.RELAY_METRICS_PORT ?? ''),
    },
    server: {
      name: 'server',
      paths: serverPaths,
      ...target(serverUrl),
      ...(await serverUse(constellation)),
      process: server,
      probe: new ProcessProbe(server, serverEnv.SERVER_METRICS_PORT ?? ''),
    },
    close: () => close(constellation, databases),
  };
}

type Use = Pick<Target, 'attackerAuthorization' | 'honest'>;

async function relayUse(constellation: Constellation): Promise<Use> {
  const honest = await RelayMember.add(constellation);
  const attacker = await RelayMember.add(constellation);
  return { attackerAuthorization: attacker.authorization, honest: await honest.honestRequests() };
}

/** Requests that a user's app sends to the server, and a load balancer's health check. */
async function serverUse(constellation: Constellation): Promise<Use> {
  const { serverUrl } = constellation;
  const added = await addUsers(constellation, ['honest', 'attacker']);
  const [authorization, attackerAuthorization] = added.map(({ email, api_key: key }) =>
    basicAuthorization(email, key),
  ) as [string, string];
  const phone = await newPhone(constellation);
  const headers = { authorization, 'content-type': form };
  const api = `${serverUrl}/api/v1`;
  const queue = await askPatiently(() =>
    ask(`${api}/register`, authorization, new URLSearchParams({ event_types: '[]' })),
  );
  if (queue.status !== 200)
    throw new Error(`the server did not open a queue: ${queue.status} ${stringifyJson(queue.body)}`);
  const events = new URLSearchParams({
    queue_id: String(queue.body.queue_id),
    last_event_id: '-1',
    dont_block: 'true',
  });
  return {
    attackerAuthorization,
    honest: [
      {
        name: 'register',
        url: `${api}/mobile_push/register`,
        method: 'POST',
        headers,
        body: new URLSearchParams(phone.registration).toString(),
      },
      { name: 'events', url: `${api}/events?${events}`, method: 'GET', headers },
      { name: 'health', url: `${serverUrl}/health/live`, method: 'GET' },
    ],
  };
}
