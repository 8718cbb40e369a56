import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation } from '../support/constellation.js';
import { runJsonCommand, type SpawnedProcess } from '../support/spawned-process.js';

let world: Constellation;
let relay: SpawnedProcess;
beforeAll(async () => {
  world = await Constellation.create();
  relay = await world.startRelay();
}, 120_000);
afterAll(() => world.close());

/** Sends SIGHUP, and waits for a line of the log that follows. */
async function hangUp(process: SpawnedProcess, line: string): Promise<string> {
  const before = process.output.length;
  process.child.kill('SIGHUP');
  await expect.poll(() => process.output.slice(before)).toContain(line);
  return process.output.slice(before);
}

describe('SIGHUP', () => {
  it('has a server use a new key for the relay, and keep the old one if the file is wrong', async () => {
    const server = await world.startServer();
    const keyFile = String(world.serverEnv.SERVER_RELAY_SERVER_KEY_FILE);
    writeFileSync(keyFile, '');
    expect(await hangUp(server, 'cannot be read again')).toContain(`The file ${keyFile} holds no key`);

    const serverId = String(world.serverEnv.SERVER_RELAY_SERVER_ID);
    const { server_key: serverKey } = await runJsonCommand<{ server_key: string }>(
      'waxwing-relay',
      ['servers', 'rotate-key', serverId, '--now', '--yes'],
      { env: world.relayEnv },
    );
    writeFileSync(keyFile, serverKey);
    await hangUp(server, 'credentials were read again');
    const ada = await world.addUser('ada');
    const { registrar } = await world.phone(ada, { tokenKind: 'fcm', token: 'token-of-ada' });
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    expect(await server.end()).toBe(0);
  });

  it('has a relay read its apps file, and keep the former one if it is wrong', async () => {
    const appsFile = String(world.relayEnv.RELAY_APPS_FILE);
    const apps = readFileSync(appsFile, 'utf8');
    writeFileSync(appsFile, '{}');
    expect(await hangUp(relay, 'cannot be read again')).toContain('lists no app');
    writeFileSync(appsFile, apps);
    await hangUp(relay, 'credentials were read again');
    expect(await relay.end()).toBe(0);
  });
});
