import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation } from '../support/constellation.js';
import { runJsonCommand, type SpawnedProcess } from '../support/spawned-process.js';

let world: Constellation;
let relay: SpawnedProcess;
let caFile: string;
beforeAll(async () => {
  world = await Constellation.create();
  caFile = join(world.dir, 'authorities.pem');
  writeFileSync(caFile, String(rootCertificates[0]));
  relay = await world.startRelay({
    RELAY_CA_FILE: caFile,
    RELAY_APNS_CA_FILE: '',
    RELAY_PLAINTEXT_DEVICES: 'on',
  });
}, 120_000);
afterAll(() => world.close());

/** Sends SIGHUP, and waits until the log contains this line. */
async function hangUp(process: SpawnedProcess, line: string): Promise<string> {
  const before = process.output.length;
  process.child.kill('SIGHUP');
  await expect.poll(() => process.output.slice(before)).toContain(line);
  return process.output.slice(before);
}

describe('SIGHUP', () => {
  it('makes a server use a new relay key, but keep the old one if the file is invalid', async () => {
    const server = await world.startServer();
    const keyFile = String(world.serverEnv.SERVER_RELAY_SERVER_KEY_FILE);
    writeFileSync(keyFile, '');
    expect(await hangUp(server, 'cannot be reloaded')).toContain(`The file ${keyFile} contains no key`);

    const serverId = String(world.serverEnv.SERVER_RELAY_SERVER_ID);
    const { server_key: serverKey } = await runJsonCommand<{ server_key: string }>(
      'waxwing-relay',
      ['servers', 'rotate-key', serverId, '--now', '--yes'],
      { env: world.relayEnv },
    );
    writeFileSync(keyFile, serverKey);
    await hangUp(server, 'credentials were reloaded');
    const ada = await world.addUser('ada');
    const { registrar } = await world.phone(ada, { tokenKind: 'fcm', token: 'token-of-ada' });
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    expect(await server.end()).toBe(0);
  });

  it('makes a relay trust an authority that was added to RELAY_CA_FILE', async () => {
    const token = 'c0ffee'.repeat(10);
    const phone = { user_id: 1, user_uuid: randomUUID(), realm_uuid: world.realmUuid, token, token_kind: 1 };
    const form = Object.entries({ ...phone, ios_app_id: 'org.example.app' });
    await askRelay('register', new URLSearchParams(form.map(([name, value]) => [name, String(value)])));
    const test = JSON.stringify({ ...phone, base_payload: {} });
    await askRelay('test_notification', test);
    await expect.poll(() => relay.output).toContain('set RELAY_CA_FILE to its PEM file');

    writeFileSync(caFile, readFileSync(world.vendors.credentials.caFile));
    await hangUp(relay, 'credentials were reloaded');
    await askRelay('test_notification', test);
    expect(await world.deliveriesTo(token)).not.toEqual([]);
  });

  it('makes a relay read its apps file, but keep the previous apps if the file is invalid', async () => {
    const appsFile = String(world.relayEnv.RELAY_APPS_FILE);
    const apps = readFileSync(appsFile, 'utf8');
    writeFileSync(appsFile, '{}');
    expect(await hangUp(relay, 'cannot be reloaded')).toContain('lists no app');
    writeFileSync(appsFile, apps);
    await hangUp(relay, 'credentials were reloaded');
    expect(await relay.end()).toBe(0);
  });
});

/** Sends the relay a request about phones without encryption, as a server does. */
async function askRelay(path: string, body: URLSearchParams | string): Promise<void> {
  const { SERVER_RELAY_SERVER_ID: id, SERVER_RELAY_SERVER_KEY_FILE: keyFile } = world.serverEnv;
  const headers = {
    authorization: `Basic ${btoa(`${id}:${readFileSync(String(keyFile), 'utf8').trim()}`)}`,
    ...(typeof body === 'string' && { 'content-type': 'application/json' }),
  };
  const url = `${world.relayUrl}/api/v1/remotes/push/${path}`;
  const response = await fetch(url, { method: 'POST', headers, body });
  expect(response.status, await response.text()).toBe(200);
}
