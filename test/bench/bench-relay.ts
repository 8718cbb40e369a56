import { readFileSync } from 'node:fs';
import { basicAuthorization } from '../system/crash/ask.js';
import { type CrashWorld, createCrashWorld } from '../system/crash/crash-world.js';
import { HttpLoad } from './http-load.js';
import { requestMaker } from './relay-register.js';

/** Relays as operators run them, on a database of their own. */
export async function createBenchWorld(postgresUrl: string | undefined): Promise<CrashWorld> {
  return createCrashWorld({ postgresUrl, users: 0 });
}

/** Registers new phones with the relay at `port` as fast as it answers, over so many connections. */
export async function openRegistrationLoad(
  { constellation }: CrashWorld,
  port: number,
  connections: number,
): Promise<HttpLoad> {
  const { bouncerPublicKey, realmUuid, serverEnv } = constellation;
  const { SERVER_RELAY_SERVER_ID: id = '', SERVER_RELAY_SERVER_KEY_FILE: file = '' } = serverEnv;
  const authorization = basicAuthorization(id, readFileSync(file, 'utf8').trim());
  const nextRequest = await requestMaker({ authorization, bouncerPublicKey, realmUuid });
  return HttpLoad.open({ port, connections, nextRequest });
}
