import { randomBytes } from 'node:crypto';
import { runServerCommand, startServer } from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readServerEnvironment } from '#server/configuration.js';
import { ServerUnderTest } from './server-under-test.js';

let test: ServerUnderTest;
beforeAll(async () => {
  test = await ServerUnderTest.start();
});
afterAll(() => test.close());

const serverKey = randomBytes(32).toString('hex');
const s3Key = `q${randomBytes(29).toString('base64')}`;

it.each([
  ['SERVER_RELAY_SERVER_KEY_FILE', serverKey],
  ['SERVER_RELAY_SERVER_KEY_FILE', s3Key],
  ['SERVER_RELAY_SERVER_ID', serverKey],
])('errors about %s never show a key that is given instead of the expected value (%#)', async (name, key) => {
  const said: string[] = [];
  const environment = {
    SERVER_DATABASE: test.databaseUrl,
    SERVER_RELAY_URL: 'http://127.0.0.1:1',
    SERVER_RELAY_SERVER_ID: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
    SERVER_RELAY_SERVER_KEY_FILE: `${test.folder}/server-key`,
    [name]: key,
  };
  const status = await runServerCommand(['push', 'status'], {
    environment,
    clock: Date.now,
    print: (text) => void said.push(text),
    say: (text) => void said.push(text),
    ask: async () => undefined,
    readSecret: async () => new Secret(''),
  });
  expect([status, said.join('\n')]).toEqual([1, expect.stringContaining(name)]);
  expect(said.join('\n')).toContain('not shown');
  expect(said.join('\n')).not.toContain(key);
});

it('a server that got the key of its file store instead of the key’s path does not start and does not show the key', async () => {
  const configuration = readServerEnvironment({
    SERVER_DATABASE: `${test.databaseUrl}.other`,
    SERVER_UPLOADS: 's3:bucket',
    SERVER_UPLOADS_S3_ACCESS_KEY_ID: 'id',
    SERVER_UPLOADS_S3_SECRET_KEY_FILE: s3Key,
  });
  const error = await startServer(configuration).catch((thrown: Error) => thrown);
  expect(String(error)).toContain('SERVER_UPLOADS_S3_SECRET_KEY_FILE');
  expect(String(error)).not.toContain(s3Key);
});
