import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, EnvironmentReader } from '@waxwing/service/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAppsFile } from '#relay/deliveries/apps/read-apps-file.js';
import { readDeliveriesEnvironment } from '#relay/deliveries/deliveries-configuration.js';
import { findApnsApp } from '#relay/deliveries/vendors/apns/app.js';
import { chooseApp } from '#relay/deliveries/vendors/choose-app.js';
import { apnsRequest, apnsToken, appsFor, startDeliveriesUnderTest } from './deliveries-under-test.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-apps-'));
const webPushEntry = { name: 'web', contact: 'mailto:operator@relay.example', hosts: '*' };
const apnsEntry = {
  team_id: 'TEAM123456',
  key_id: 'KEY1234567',
  key_file: 'key.p8',
  topics: ['org.example.App'],
};
const serverId = '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe';
const realmUuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';

beforeAll(() => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const account = (projectId: string) =>
    JSON.stringify({
      type: 'service_account',
      project_id: projectId,
      private_key_id: 'id',
      private_key: rsa.export({ type: 'pkcs8', format: 'pem' }),
      client_email: `sender@${projectId}.iam.gserviceaccount.com`,
      token_uri: 'https://oauth2.googleapis.com/token',
    });
  for (const project of ['one', 'two', 'three']) write(`${project}.json`, account(project));
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  write('key.p8', ec.export({ type: 'pkcs8', format: 'pem' }).toString());
  write(
    'other.p8',
    generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString(),
  );
});
afterAll(() => rmSync(dir, { recursive: true }));

function write(name: string, content: string, mode = 0o600): string {
  const file = join(dir, name);
  writeFileSync(file, content, { mode });
  chmodSync(file, mode);
  return file;
}

function read(apps: unknown) {
  return readAppsFile(write('apps.json', typeof apps === 'string' ? apps : JSON.stringify(apps)));
}

async function problemsOf(apps: unknown): Promise<readonly string[]> {
  try {
    await read(apps);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('the apps file', () => {
  it('selects the Firebase project by realm, then by server, then the default', async () => {
    const apps = await read({
      fcm: [
        { service_account_file: 'one.json' },
        { service_account_file: 'two.json', servers: [serverId.toUpperCase()] },
        { service_account_file: 'three.json', project: 'renamed', realms: [realmUuid] },
      ],
    });
    const other = '00000000-0000-4000-8000-000000000000';
    expect(chooseApp(apps.fcm, serverId, realmUuid)?.projectId).toBe('renamed');
    expect(chooseApp(apps.fcm, serverId, other)?.projectId).toBe('two');
    expect(chooseApp(apps.fcm, other, other)?.projectId).toBe('one');
    expect(findApnsApp(apps, 'org.example.App')).toBeUndefined();
  });

  it('selects the APNs key by bundle id, with "*" as the fallback', async () => {
    const apps = await read({ apns: [{ ...apnsEntry, topics: '*', key_id: 'REST123456' }, apnsEntry] });
    expect(findApnsApp(apps, 'org.example.App')?.keyId).toBe('KEY1234567');
    expect(findApnsApp(apps, 'org.example.Other')?.keyId).toBe('REST123456');
    expect(chooseApp(apps.fcm, serverId, realmUuid)).toBeUndefined();
  });

  it('may list only Web Push apps, which are selected by realm, by server, or as the default', async () => {
    const id = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
    const other = '11111111-2222-4333-8444-555555555555';
    const { webpush } = await read({
      webpush: [
        webPushEntry,
        { ...webPushEntry, name: 'of-server', servers: [id], hosts: ['*.push.example:8443', 'push.lan'] },
        { ...webPushEntry, name: 'of-realm', realms: [id] },
      ],
    });
    expect(chooseApp(webpush, other, other)?.name).toBe('web');
    expect(chooseApp(webpush, id, other)?.name).toBe('of-server');
    expect(chooseApp(webpush, id, id)?.name).toBe('of-realm');
  });

  it('distinguishes two keys with the same id', async () => {
    const first = (await read({ apns: [apnsEntry] })).apns[0]?.fingerprint;
    const same = (await read({ apns: [{ ...apnsEntry, topics: '*' }] })).apns[0]?.fingerprint;
    const other = (await read({ apns: [{ ...apnsEntry, key_file: 'other.p8' }] })).apns[0]?.fingerprint;
    expect(same).toBe(first);
    expect(other).not.toBe(first);
  });

  it('reports all problems together, each with the file and the remedy', async () => {
    write('open.p8', 'x', 0o644);
    write('empty.json', '{}');
    const problems = await problemsOf({
      fcm: [{ service_account_file: 'missing.json' }, { service_account_file: 'empty.json' }],
      apns: [
        { ...apnsEntry, key_file: 'open.p8' },
        { ...apnsEntry, key_file: 'one.json' },
      ],
    });
    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain(join(dir, 'missing.json'));
    expect(problems[1]).toContain('is not a Google service account');
    expect(problems[2]).toContain('chmod 600');
    expect(problems[3]).toContain("is an RSA key of 2048 bits, and Apple's are EC keys of P-256");
  });

  it('must exist if RELAY_APPS_FILE is set', async () => {
    const path = join(dir, 'nowhere.json');
    await expect(readAppsFile(path)).rejects.toThrow(
      `The apps file ${path} does not exist: create it, or unset RELAY_APPS_FILE to deliver nothing.`,
    );
  });

  it.each([
    ['{\n"fcm": [\n', 'is not JSON from line 2 on: look there for a comma'],
    ['{\n"fcm": [],\n"apns" []}', 'is not JSON from line 3 on'],
    ['// mine\n{\n"fcm": []\n}', 'is not JSON from line 1 on'],
    ['{\n"fcm": []\n"apns": []\n}', 'is not JSON from line 2 on'],
    ['{\n"fcm": [],\n}', 'is not JSON from line 2 on'],
    ['{\r"fcm": [],\r\n\'apns\': []}', 'is not JSON from line 3 on'],
    ['', 'is empty: write {"fcm": […], "apns": […], "webpush": […]}'],
    [{ project_info: {}, client: [] }, "is the Android app's own google-services.json: write"],
    [{ type: 'service_account' }, 'is the key of a Google service account: write'],
    ['\ufeff{}', 'lists no app'],
    ['{}', 'lists no app'],
    ['[]', 'line 1: the whole must be an object, in { }.'],
    ['{\n"fmc": []\n}', 'line 2: fmc is not a field: did you mean fcm?'],
    [
      '{"fcm": [{"service_account_file": "a,]}:\\"b"},\n{\n"service_acount_file":\n"one.json"}]}',
      'line 3: fcm.1.service_acount_file is not a field: did you mean service_account_file?',
    ],
    [
      '{"fcm":[{"service_account_file":"one.json",\n"colour":1}]}',
      'line 2: fcm.0.colour is not a field: there are project, service_account_file, address_by, android_v2, servers, realms.',
    ],
    ['{"fcm": [\n{\n"project": "p"}]}', 'line 2: fcm.0.service_account_file is missing.'],
    ['{"fcm":\n{}}', 'line 1: fcm must be a list, in [ ].'],
    ['{"fcm": [{\n"service_account_file": 1}]}', 'line 2: fcm.0.service_account_file must be a string.'],
    [
      '{"fcm": [{"service_account_file": "a",\n"address_by": "x"}]}',
      'line 2: fcm.0.address_by must be one of "token", "fid".',
    ],
    ['{"fcm": [{"service_account_file":\n""}]}', 'line 1: fcm.0.service_account_file must not be empty.'],
    [
      '{"fcm": [{"service_account_file": "a", "realms": [\n"x"]}]}',
      'line 2: fcm.0.realms.0 must be a UUID such as ',
    ],
    ...['T E A M 12', 'TEAM12345', 'TEAM1234567', 'team123456'].flatMap((id): [string, string][] => [
      [`{"apns":[{\n\n"team_id":"${id}"}]}`, 'line 3: apns.0.team_id must be ten characters, each A to Z'],
      [`{"apns":[{\n"key_id":"${id}"}]}`, 'line 2: apns.0.key_id must be ten characters, each A to Z'],
    ]),
    [
      '{"apns":[{\n"filtering_entitlement": "yes"}]}',
      'line 2: apns.0.filtering_entitlement must be true or false.',
    ],
    ['{"apns":[{\n"topics": "x"}]}', 'line 2: apns.0.topics must be "*" or a list of bundle ids.'],
    [
      { fcm: [{ service_account_file: 'one.json' }, { service_account_file: 'two.json' }] },
      'the default Firebase project',
    ],
    [{ apns: [apnsEntry, apnsEntry] }, 'the topic org.example.App more than once'],
    [
      { apns: [{ ...apnsEntry, topics: ['org.example.App', 'org.example.App'] }] },
      'the topic org.example.App more than once',
    ],
    ...(['servers', 'realms'] as const).map((list): [object, string] => {
      const id = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
      const entry = { service_account_file: 'one.json', [list]: [id, id.toUpperCase()] };
      return [{ fcm: [entry] }, `${list.slice(0, -1)} ${id} more than once`];
    }),
    [
      {
        apns: [
          { ...apnsEntry, topics: '*' },
          { ...apnsEntry, topics: '*' },
        ],
      },
      'every other topic',
    ],
    ...[
      [{ name: '../web' }, 'webpush.0.name must be 1 to 64 letters'],
      [{ name: undefined }, 'webpush.0.name is missing'],
      [{ contact: 'operator@relay.example' }, 'webpush.0.contact must be a mailto: or https: URL'],
      [{ contact: 'http://relay.example' }, 'webpush.0.contact must be a mailto: or https: URL'],
      [{ hosts: [] }, 'webpush.0.hosts'],
      [{ hosts: ['https://push.example'] }, 'webpush.0.hosts'],
      [{ hosts: ['PUSH.example'] }, 'webpush.0.hosts'],
      [{ hosts: ['push.*.example'] }, 'webpush.0.hosts'],
      [{ colour: 1 }, 'there are name, contact, servers, realms, hosts.'],
    ].map(([more, problem]): [object, string] => [
      { webpush: [{ ...webPushEntry, ...(more as object) }] },
      problem as string,
    ]),
    [{ webpush: [webPushEntry, { ...webPushEntry, name: 'b' }] }, 'claims the default Web Push app'],
    [
      { webpush: [webPushEntry, { ...webPushEntry, realms: ['9aa61d0b-8ce5-488d-8e9e-fedc346e6836'] }] },
      'claims the Web Push name web more than once',
    ],
  ])('rejects %j: %s', async (apps, problem) => {
    expect((await problemsOf(apps)).join('\n')).toContain(problem);
  });

  it('must be accessible only to its owner', async () => {
    const file = write('apps-open.json', '{}', 0o644);
    await expect(readAppsFile(file)).rejects.toThrow(`chmod 600 ${file}`);
  });
});

describe('the delivery settings', () => {
  it.each([
    [{ RELAY_FCM_BASE_URL: 'http://127.0.0.1:1' }, 'RELAY_FCM_BASE_URL is set but RELAY_APPS_FILE is not'],
    [{ RELAY_WEB_PUSH_PRIVATE_HOSTS: 'push.lan, https://a' }, 'HOSTS has "https://a", which is not a host'],
    [{ RELAY_WEB_PUSH_PRIVATE_HOSTS: 'push.lan:99999' }, 'HOSTS has "push.lan:99999", which is not a host'],
    [{ RELAY_APNS_CA_FILE: 'ca.pem' }, 'RELAY_APNS_CA_FILE is set but RELAY_APPS_FILE is not'],
    [{ RELAY_APPS_FILE: 'a', RELAY_APNS_SANDBOX_URL: 'http://127.0.0.1' }, 'APNs requires TLS'],
  ])('are rejected if they are incomplete or invalid: %j', (environment, problem) => {
    const reader = new EnvironmentReader(environment, 'RELAY_');
    readDeliveriesEnvironment(reader);
    expect(() => reader.finish()).toThrow(problem);
  });

  it('default to the real vendors, without apps', () => {
    const reader = new EnvironmentReader({}, 'RELAY_');
    expect(readDeliveriesEnvironment(reader)).toMatchObject({
      apps: { kind: 'not-configured' },
      fcmBaseUrl: 'https://fcm.googleapis.com',
      apnsUrls: { production: 'https://api.push.apple.com', sandbox: 'https://api.sandbox.push.apple.com' },
    });
    reader.finish();
  });
});

describe('a notification for an iOS app that the relay does not serve', () => {
  it('is rejected as a configuration fault, and its device is kept', async () => {
    const relay = await startDeliveriesUnderTest({
      apps: (vendors) => {
        const [apns] = appsFor(vendors).apns;
        return { apns: [{ ...apns, topics: ['org.example.Served'] }] };
      },
    });
    try {
      const id = await relay.addApns(apnsToken(), { appId: 'org.example.Stranger' });
      const { body } = await relay.notify([apnsRequest(id)]);
      expect(body.results).toEqual([
        {
          status: 'rejected',
          reason: 'APP_NOT_SERVED',
          fault: 'relay-configuration',
          app: 'org.example.Stranger',
        },
      ]);
      expect((await relay.device(id)).expired_at).toBeNull();
    } finally {
      await relay.close();
    }
  });
});
