import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '@waxwing/service/config';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openRelayDatabase } from '#relay/open-database.js';
import { eachBackend } from '../../support/test-databases.js';
import { runRelayCommand } from './command-line-under-test.js';
import { keyTerminal } from './keyring/key-terminal.js';

const clock = () => Date.parse('2026-03-01T00:00:00Z');

eachBackend((backend) => {
  /** Creates the settings of a relay that has an apps file with a valid key, but no key ring yet. */
  async function newRelay() {
    const url = await backend.freshUrl();
    const { folder, environment } = keyTerminal({ RELAY_DATABASE: url });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    write('key.p8', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    const entry = {
      team_id: 'TEAM123456',
      key_id: 'KEY1234567',
      key_file: 'key.p8',
      topics: ['org.example'],
    };
    environment.RELAY_APPS_FILE = write('apps.json', JSON.stringify({ apns: [entry] }));
    const run = (words: string) => runRelayCommand(words.split(' '), { environment, clock });
    return { folder, environment, url, write, run, check: () => run('serve --check') };
  }

  it.each(['file', 'database'])(
    'serve --check passes for a relay that can start (ring in the %s)',
    async (ring) => {
      const relay = await newRelay();
      if (ring === 'database') {
        const [audit, socket] = ['audit', 'sock'].map((name) => join(relay.folder, name));
        Object.assign(relay.environment, {
          RELAY_KEY_RING: ring,
          RELAY_KEY_AUDIT_LOG: audit,
          RELAY_KEY_ADMIN_SOCKET: socket,
        });
      }
      expect((await relay.run('keys init')).status).toBe(0);
      expect(await relay.check()).toMatchObject({
        status: 0,
        stdout: `ok      ${'settings listening apps audit-log database key-ring admin-socket'.replaceAll(' ', '\nok      ')}`,
        stderr: '',
      });
    },
  );

  it('serve --check reports what is missing, creates nothing, and exits with 1', async () => {
    const { check, folder, url } = await newRelay();
    const { status, stdout, stderr } = await check();
    expect([status, stderr]).toEqual([
      1,
      'waxwing-relay: The start would fail: fix the problems listed above.',
    ]);
    expect(stdout).toMatch(
      /^FAILED {2}key-ring: There is no key ring in .*: create one with waxwing-relay keys init\.$/m,
    );
    const state =
      backend.name === 'sqlite' ? /there is no file .* yet, and the start creates it/ : /the start applies /;
    expect(stdout).toMatch(state);
    expect(existsSync(join(folder, 'ring.age.audit.jsonl'))).toBe(false);
    if (backend.name === 'sqlite') expect(existsSync(url.slice('sqlite:'.length))).toBe(false);
  });

  it('serve --check reports every unusable file, but never a secret that is given instead of a path', async () => {
    const { check, environment, folder, run, write } = await newRelay();
    await run('keys init');
    chmodSync(join(folder, 'apps.json'), 0o644);
    renameSync(join(folder, 'identity'), join(folder, 'former'));
    environment.RELAY_CA_FILE = write('ca.pem', 'nothing');
    const first = await check();
    expect(first.status).toBe(1);
    expect(first.stdout).toMatch(/^FAILED {2}apps: .*apps\.json .* has mode 0644/m);
    expect(first.stdout).toMatch(/^FAILED {2}authorities: RELAY_CA_FILE: .* contains no PEM certificate/m);
    expect(first.stdout).toMatch(/^FAILED {2}key-ring: .*identity.* cannot be read: there is no such file/m);
    chmodSync(join(folder, 'apps.json'), 0o600);
    write('key.p8', '{"project_info": {}, "client": []}');
    expect((await check()).stdout).toMatch(
      /^FAILED {2}apps: .*key\.p8 is the Android app's own google-services\.json/m,
    );
    environment.RELAY_APPS_FILE = 'AGE-SECRET-KEY-1HUNTER2';
    const { stderr, stdout } = await check();
    expect(stdout + stderr).not.toContain('HUNTER2');
  });

  it('serve --check fails for a database of a newer version or an unreachable database', async () => {
    const { check, environment, run, url } = await newRelay();
    await run('keys init');
    const database = await openRelayDatabase({
      url: new Secret(url),
      clock,
      role: 'visiting',
      onJobError: expect.fail,
    });
    const newer = sql`insert into deliveries_migrations (name, timestamp) values ('9999-new', '2026-03-01')`;
    await database.write(({ db }) => newer.execute(db));
    await database.close();
    expect((await check()).stdout).toMatch(/^FAILED {2}database: .*newer version.*deliveries\/9999-new/m);
    environment.RELAY_DATABASE = 'postgres://me:hunter2@127.0.0.1:1/relay';
    const { status, stdout } = await check();
    expect([status, stdout]).toEqual([1, expect.stringMatching(/^FAILED {2}database: .*cannot be reached/m)]);
    expect(stdout).not.toContain('hunter2');
  });
});

it('serve --check reports an unusable address, audit log and admin socket', async () => {
  const { environment, folder } = keyTerminal({});
  const check = async (more: Record<string, string>) => {
    const { status, stdout } = await runRelayCommand(['serve', '--check'], {
      environment: { ...environment, ...more },
    });
    return [status, /^FAILED (?!.*key-ring).*$/m.exec(stdout)?.[0]];
  };
  const refused = (text: string) => [1, expect.stringContaining(text)];
  expect(await check({ RELAY_HOST: '192.0.2.1' })).toEqual(
    refused('FAILED  listening: This machine has no address 192.0.2.1'),
  );
  expect(await check({ RELAY_METRICS_PORT: '0', RELAY_METRICS_HOST: 'nowhere.invalid' })).toEqual(
    refused('FAILED  listening: The name nowhere.invalid cannot be resolved'),
  );
  expect(await check({ RELAY_KEY_AUDIT_LOG: folder })).toEqual(
    refused(`its audit log ${folder} cannot be written: it is a folder; name a file.`),
  );
  const longPath = join(folder, `${'a'.repeat(110)}.sock`);
  expect(await check({ RELAY_KEY_ADMIN_SOCKET: longPath })).toEqual(
    refused(`FAILED  admin-socket: The path of the relay's socket, ${longPath}, is too long`),
  );
  const open = join(folder, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  expect(await check({ RELAY_KEY_ADMIN_SOCKET: join(open, 'sock') })).toEqual(
    refused(`FAILED  admin-socket: The folder ${open} of the relay's socket has mode 0777`),
  );
});

it('serve --check rejects the same port for two listeners', async () => {
  const { environment } = keyTerminal({ RELAY_PORT: '8400', RELAY_METRICS_PORT: '8400' });
  const check = () => runRelayCommand(['serve', '--check'], { environment });
  const refusal = 'RELAY_PORT and RELAY_METRICS_PORT are both 8400: set two different ports.';
  expect((await check()).stderr).toContain(refusal);
  environment.RELAY_METRICS_HOST = '0.0.0.0';
  expect((await check()).stderr).toContain(refusal);
  environment.RELAY_METRICS_HOST = '127.0.0.2';
  expect((await check()).stderr).not.toContain(refusal);
});

it('serve --check rejects invalid settings, like a start', async () => {
  const { environment } = keyTerminal({ RELAY_PORTT: '1' });
  expect(await runRelayCommand(['serve', '--check'], { environment })).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('RELAY_PORTT is not a setting'),
  });
});
