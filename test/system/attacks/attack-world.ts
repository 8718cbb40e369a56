import { Constellation } from '../../support/constellation.js';
import { freePort } from '../../support/free-ports.js';
import { createTemporaryPostgres, type TemporaryPostgres } from '../../support/temporary-postgres.js';
import { ask, basicAuthorization } from '../crash/ask.js';
import type { HonestRequest } from './honest-user.js';
import { ProcessProbe, probedEnvironment } from './process-probe.js';
import { newPhone, RelayMember } from './relay-member.js';

export interface AttackWorldOptions {
  /** A database of its own is made for the relay on this PostgreSQL server; a SQLite file where there is none. */
  readonly postgresUrl?: string;
  /** Settings of the relay and the server, without their prefixes. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Requests in flight that the relay lets each server have, and the server each user. */
  readonly requestsPerActor?: number;
}

/** One of the two programs, and who attacks it or uses it. */
export interface Target {
  readonly url: string;
  readonly port: number;
  readonly probe: ProcessProbe;
  /** The credentials of a member of another organisation, or of another user, who is not honest. */
  readonly attackerAuthorization: string;
  /** What an honest user asks for. */
  readonly honest: readonly HonestRequest[];
}

export interface AttackWorld {
  readonly relay: Target;
  readonly server: Target;
  close(): Promise<void>;
}

const form = 'application/x-www-form-urlencoded';

/** A relay and a server in processes of their own, to be attacked. */
export async function createAttackWorld(options: AttackWorldOptions): Promise<AttackWorld> {
  const { postgresUrl, settings = {}, requestsPerActor = 100 } = options;
  const postgres = postgresUrl === undefined ? undefined : await createTemporaryPostgres(postgresUrl);
  const metricsPort = await freePort(2);
  const own = (prefix: string, port: number): Record<string, string> => ({
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [prefix + name, value])),
    [`${prefix}LOG_LEVEL`]: 'warn',
    [`${prefix}METRICS_PORT`]: String(port),
  });
  const database: Record<string, string> = postgres === undefined ? {} : { RELAY_DATABASE: postgres.url };
  const constellation = await Constellation.create({
    relay: {
      ...own('RELAY_', metricsPort),
      ...database,
      RELAY_MAXIMUM_REQUESTS_PER_SERVER: String(requestsPerActor),
    },
    server: {
      ...own('SERVER_', metricsPort + 1),
      SERVER_MAXIMUM_REQUESTS_PER_USER: String(requestsPerActor),
    },
  });
  try {
    return await start(constellation, postgres);
  } catch (error) {
    await constellation.close();
    await postgres?.drop();
    throw error;
  }
}

async function start(
  constellation: Constellation,
  postgres: TemporaryPostgres | undefined,
): Promise<AttackWorld> {
  const { relayEnv, serverEnv, relayUrl, serverUrl } = constellation;
  const relay = await constellation.startRelay(probedEnvironment);
  const server = await constellation.startServer(probedEnvironment);
  const target = (url: string) => ({ url, port: Number(new URL(url).port) });
  return {
    relay: {
      ...target(relayUrl),
      ...(await relayUse(constellation)),
      probe: new ProcessProbe(relay, relayEnv.RELAY_METRICS_PORT ?? ''),
    },
    server: {
      ...target(serverUrl),
      ...(await serverUse(constellation)),
      probe: new ProcessProbe(server, serverEnv.SERVER_METRICS_PORT ?? ''),
    },
    async close() {
      await constellation.close();
      await postgres?.drop();
    },
  };
}

type Use = Pick<Target, 'attackerAuthorization' | 'honest'>;

async function relayUse(constellation: Constellation): Promise<Use> {
  const honest = await RelayMember.add(constellation);
  const attacker = await RelayMember.add(constellation);
  return { attackerAuthorization: attacker.authorization, honest: await honest.honestRequests() };
}

/** What a user's app asks the server for, and a load balancer's question. */
async function serverUse(constellation: Constellation): Promise<Use> {
  const { serverUrl } = constellation;
  const { email, api_key } = await constellation.addUser('honest');
  const attacker = await constellation.addUser('attacker');
  const authorization = basicAuthorization(email, api_key);
  const phone = await newPhone(constellation);
  const headers = { authorization, 'content-type': form };
  const api = `${serverUrl}/api/v1`;
  const queue = await ask(`${api}/register`, authorization, new URLSearchParams({ event_types: '[]' }));
  const events = new URLSearchParams({
    queue_id: String(queue?.body.queue_id),
    last_event_id: '-1',
    dont_block: 'true',
  });
  return {
    attackerAuthorization: basicAuthorization(attacker.email, attacker.api_key),
    honest: [
      {
        ...{ name: 'register', url: `${api}/mobile_push/register`, method: 'POST', headers },
        body: new URLSearchParams(phone.registration).toString(),
      },
      { name: 'events', url: `${api}/events?${events}`, method: 'GET', headers },
      { name: 'health', url: `${serverUrl}/health/live`, method: 'GET' },
    ],
  };
}
