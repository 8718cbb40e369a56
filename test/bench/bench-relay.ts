import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SpawnedProcess } from '../support/spawned-process.js';
import { basicAuthorization } from '../system/crash/ask.js';
import { type CrashWorld, createCrashWorld } from '../system/crash/crash-world.js';
import { HttpLoad } from './http-load.js';
import { requestMaker } from './relay-register.js';

const warmUpMilliseconds = 1000;

/** Creates a relay and a server on new databases, as operators run them. */
export async function createBenchWorld(postgresUrl: string | undefined, users = 0): Promise<CrashWorld> {
  const world = await createCrashWorld({ postgresUrl, users });
  // Turns off the response checks that spawned programs run in tests: the benchmark would measure their cost too.
  const { relayEnv, serverEnv } = world.constellation;
  for (const env of [relayEnv, serverEnv]) Object.assign(env, { NODE_OPTIONS: '' });
  return world;
}

/** Returns a function that builds requests from the server of `world`. Each request registers a new phone. */
export function registrationMaker({ constellation }: CrashWorld): Promise<() => Buffer> {
  const { bouncerPublicKey, realmUuid, serverEnv } = constellation;
  const { SERVER_RELAY_SERVER_ID: id = '', SERVER_RELAY_SERVER_KEY_FILE: file = '' } = serverEnv;
  const authorization = basicAuthorization(id, readFileSync(file, 'utf8').trim());
  return requestMaker({ authorization, bouncerPublicKey, realmUuid });
}

/**
 * Opens a load generator that registers new phones with the relay at `port`, over `connections` connections, as fast as
 * the relay responds.
 */
export async function openRegistrationLoad(
  world: CrashWorld,
  port: number,
  connections: number,
): Promise<HttpLoad> {
  return HttpLoad.open({ port, connections, nextRequest: await registrationMaker(world) });
}

/**
 * Starts a relay that logs each request to a file, at the default level, and a load generator that registers phones.
 */
export async function openWholeRelay(
  postgresUrl: string | undefined,
  connections: number,
): Promise<{ load: HttpLoad; close(): Promise<void> }> {
  const world = await createBenchWorld(postgresUrl);
  const { dir, relayEnv, relayUrl } = world.constellation;
  const outputFile = openSync(join(dir, 'relay.log'), 'a');
  const env = { ...relayEnv, RELAY_LOG_LEVEL: 'info' };
  const relay = new SpawnedProcess('waxwing-relay', ['serve'], { env, outputFile });
  closeSync(outputFile);
  let load: HttpLoad | undefined;
  const close = async (): Promise<void> => {
    load?.close();
    await relay.end();
    await world.close();
  };
  try {
    await relay.readyAt(`${relayUrl}/health/ready`);
    load = await openRegistrationLoad(world, Number(relayEnv.RELAY_PORT), connections);
    // Warms up immediately, because the relay closes connections that are idle for a few seconds.
    await load.run(warmUpMilliseconds);
    return { load, close };
  } catch (error) {
    await close();
    throw error;
  }
}
