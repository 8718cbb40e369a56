import { readServerEnvironment } from '@waxwing/server';
import { hashCredential, Secret } from '@waxwing/service/config';
import { beforeEach, describe, expect, it } from 'vitest';
import { openRelayDatabase } from '#relay/open-database.js';
import type { RelayDatabase } from '#relay/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { commandClock, runRelayCommand } from '../command-line-under-test.js';

const realm = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
const otherRealm = 'e502dde1-74fc-44b3-9e3a-114c41ed3ea4';
const serverId = '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe';
const unknownId = '00000000-0000-4000-8000-000000000000';

eachBackend((backend) => {
  let databaseUrl: string;
  beforeEach(async () => {
    databaseUrl = await backend.freshUrl();
    await run(['db', 'migrate']);
  });

  const run = (argv: readonly string[], answer?: boolean) =>
    runRelayCommand(argv, {
      environment: { RELAY_DATABASE: databaseUrl },
      ...(answer === undefined ? {} : { answer }),
    });

  async function runJson(argv: readonly string[], answer?: boolean) {
    const { status, stdout, stderr } = await run([...argv, '--json'], answer);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  const storedServers = () => withDatabase(({ db }) => db.selectFrom('servers').selectAll().execute());

  async function withDatabase<Result>(work: (database: RelayDatabase) => Promise<Result>): Promise<Result> {
    const url = new Secret(databaseUrl);
    const database = await openRelayDatabase({
      url,
      clock: Date.now,
      role: 'visiting',
      onJobError: expect.fail,
    });
    return work(database).finally(() => database.close());
  }

  const addOne = () =>
    runJson(['servers', 'add', '--realm', realm, '--server-id', serverId, '--name', 'Example']);

  describe('servers add', () => {
    it('prints a new id and a key of 64 characters, and stores only the hash of the key', async () => {
      const added = await runJson(['servers', 'add', '--realm', realm, '--realm', otherRealm]);
      expect(added).toEqual({
        server_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        server_key: expect.stringMatching(/^[0-9a-f]{64}$/),
        realms: [realm, otherRealm],
      });
      expect(await storedServers()).toMatchObject([
        { id: added.server_id, key_hash: hashCredential(added.server_key as string), deactivated_at: null },
      ]);
    });

    it('prints a warning that the key is shown only once', async () => {
      const { stdout, status } = await run(['servers', 'add', '--realm', realm.toUpperCase()]);
      expect(status).toBe(0);
      expect(stdout).toMatch(/^server id {3}[0-9a-f-]{36}\nserver key {2}[0-9a-f]{64}\n\nKeep the key now/);
    });

    it('prints settings to paste into the server’s configuration', async () => {
      const { stdout } = await run(['servers', 'add', '--realm', realm]);
      const [, id = ''] = /^server id +(\S+)$/m.exec(stdout) ?? [];
      const [, key] = /^server key +(\S+)$/m.exec(stdout) ?? [];
      const settings = [...stdout.matchAll(/^(SERVER_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
      const { relay } = readServerEnvironment(Object.fromEntries(settings));
      expect(relay).toMatchObject({ kind: 'configured', url: 'https://relay.example.com', serverId: id });
      expect(stdout).toContain(`\nzulip_org_id = ${id}\nzulip_org_key = ${key}\n`);
      expect((await run(['servers', 'rotate-key', id, '--yes'])).stdout).not.toContain('SERVER_RELAY');
    });

    it('refuses an existing id and a realm of another server, and changes nothing', async () => {
      await addOne();
      const before = await storedServers();
      const sameId = await run(['servers', 'add', '--realm', otherRealm, '--server-id', serverId]);
      expect(sameId).toMatchObject({ status: 1, stdout: '' });
      expect(sameId.stderr).toContain(`The server ${serverId} already exists`);
      const sameRealm = await run(['servers', 'add', '--realm', otherRealm, '--realm', realm]);
      expect(sameRealm).toMatchObject({ status: 1, stdout: '' });
      expect(sameRealm.stderr).toContain(`The realm ${realm} already belongs to the server ${serverId}`);
      expect(await storedServers()).toEqual(before);
      expect((await runJson(['servers', 'list'])).servers).toMatchObject([{ realms: [realm] }]);
    });

    it.each([
      [['servers', 'add'], 'the option --realm <uuid> is missing'],
      [['servers', 'add', '--realm', 'zulip'], 'it must be a UUID'],
      [['servers', 'add', '--realm', realm, '--server-id', 'x'], 'it must be a UUID'],
      [['servers', 'add', '--realm', realm, 'more'], 'too many arguments (1, and the maximum is 0)'],
      [['servers', 'add', '--realm', realm, '--nonsense'], 'there is no option --nonsense'],
      [['servers', 'suspend'], '<server-id> is missing'],
      [['nonsense'], 'there is no command "nonsense"'],
    ])('%j is a usage error', async (argv, sentence) => {
      const { status, stdout, stderr } = await run(argv);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(sentence);
    });
  });

  it('servers add-realm adds a realm to a server, and is idempotent', async () => {
    await addOne();
    const argv = ['servers', 'add-realm', serverId, '--realm', otherRealm];
    expect(await runJson(argv)).toEqual({ server_id: serverId, realms: [otherRealm] });
    await runJson(argv);
    expect((await runJson(['servers', 'list'])).servers).toMatchObject([{ realms: [realm, otherRealm] }]);
  });

  it('servers list shows each server with its state, as JSON and as text, but no key', async () => {
    expect((await run(['servers', 'list'])).stdout).toContain('There are no servers yet');
    const { server_key: key } = await addOne();
    expect(await runJson(['servers', 'list'])).toEqual({
      servers: [
        {
          server_id: serverId,
          name: 'Example',
          state: 'active',
          hostname: null,
          contact_email: null,
          created_at: '2026-03-11T03:33:20.000Z',
          suspended_at: null,
          deactivated_at: null,
          last_seen_at: null,
          realms: [realm],
          devices: {
            v1: { fcm: 0, apns: 0, webpush: 0 },
            v2: { fcm: 0, apns: 0, webpush: 0 },
            plaintext: { fcm: 0, apns: 0, webpush: 0 },
          },
          last_day: { sent: 0, gone: 0, rejected: 0 },
          quota_used: 0,
        },
      ],
    });
    const { stdout } = await run(['servers', 'list']);
    for (const shown of [serverId, 'Example', 'active', realm]) expect(stdout).toContain(shown);
    expect(stdout).not.toContain(hashCredential(key as string));
  });

  it('servers list shows servers whose name contains a string, up to the requested number', async () => {
    const rows = Array.from({ length: 300 }, (_, number) => ({
      id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      name: `Server ${number}`,
      key_hash: '',
      created_at: 1,
    }));
    await withDatabase(({ db }) => db.insertInto('servers').values(rows).execute());
    const namesOf = async (...options: string[]) =>
      ((await runJson(['servers', 'list', ...options])).servers as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(await namesOf()).toEqual(rows.map(({ name }) => name));
    expect(await namesOf('server 29')).toEqual(['Server 29', ...rows.slice(290).map(({ name }) => name)]);
    expect(await namesOf('SERVER', '--limit', '260')).toEqual(rows.slice(0, 260).map(({ name }) => name));
    expect((await run(['servers', 'list', 'none'])).stdout).toContain('No server has "none"');
  });

  describe('servers rotate-key', () => {
    it('replaces the key after consent at the prompt or with --yes', async () => {
      const { server_key: first } = await addOne();
      const asked = await run(['servers', 'rotate-key', serverId, '--json'], true);
      expect(asked.questions).toHaveLength(1);
      const { server_key: second } = JSON.parse(asked.stdout);
      const { server_key: third } = await runJson(['servers', 'rotate-key', serverId, '--yes']);
      expect(new Set([first, second, third]).size).toBe(3);
      expect(await storedServers()).toMatchObject([
        {
          key_hash: hashCredential(third as string),
          previous_key_hash: hashCredential(second),
          previous_key_until: commandClock() + 600_000,
        },
      ]);
    });

    it('ends the old key immediately with --now', async () => {
      await addOne();
      const { server_key: key } = await runJson(['servers', 'rotate-key', serverId, '--now', '--yes']);
      expect(await storedServers()).toMatchObject([
        { key_hash: hashCredential(key as string), previous_key_hash: null, previous_key_until: null },
      ]);
    });
  });

  describe.each(['rotate-key', 'suspend', 'remove'])('servers %s', (command) => {
    it.each([
      ['the operator says no', false, 'Nothing was changed.'],
      ['there is no terminal', undefined, 'add --yes to confirm'],
    ])('changes nothing if %s', async (_when, answer, sentence) => {
      await addOne();
      const before = await storedServers();
      const { status, stdout, stderr } = await run(['servers', command, serverId], answer);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toContain(sentence);
      expect(await storedServers()).toEqual(before);
    });
  });

  it('servers suspend and resume revoke and restore access', async () => {
    await addOne();
    const suspend = ['servers', 'suspend', serverId, '--yes'];
    expect(await runJson(suspend)).toEqual({ server_id: serverId, state: 'suspended', changed: true });
    expect(await runJson(suspend)).toMatchObject({ changed: false });
    expect((await runJson(['servers', 'list'])).servers).toMatchObject([
      { state: 'suspended', suspended_at: '2026-03-11T03:33:20.000Z', deactivated_at: null },
    ]);
    const resume = ['servers', 'resume', serverId];
    expect(await runJson(resume)).toMatchObject({ state: 'active', changed: true });
    expect(await runJson(resume)).toMatchObject({ changed: false });
    expect(await storedServers()).toMatchObject([{ suspended_at: null, deactivated_at: null }]);
  });

  it('servers rename changes the display name of a server', async () => {
    await addOne();
    expect(await runJson(['servers', 'rename', serverId, 'Other'])).toEqual({
      server_id: serverId,
      name: 'Other',
    });
    expect(await runJson(['servers', 'show', serverId])).toMatchObject({ name: 'Other' });
  });

  it.each([
    [['servers', 'add-realm', unknownId, '--realm', realm]],
    [['servers', 'rotate-key', unknownId, '--yes']],
    [['servers', 'show', unknownId]],
    [['servers', 'rename', unknownId, 'x']],
    [['servers', 'suspend', unknownId, '--yes']],
    [['servers', 'resume', unknownId]],
    [['servers', 'remove', unknownId, '--yes']],
  ])('%j reports an unknown server', async (argv) => {
    const { status, stdout, stderr } = await run(argv);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe(`waxwing-relay: There is no server ${unknownId}: "servers list" shows all.`);
  });

  it('an unsupported database URL is reported in one sentence', async () => {
    const { status, stderr } = await runRelayCommand(['servers', 'list'], {
      environment: { RELAY_DATABASE: 'mysql://localhost/relay' },
    });
    expect(status).toBe(1);
    expect(stderr.split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/^waxwing-relay: The database URL/);
  });

  it('servers --help exits with status 0', async () => {
    const { status, stdout } = await run(['servers', '--help']);
    expect(status).toBe(0);
    expect(stdout).toContain('rotate-key');
  });
});
