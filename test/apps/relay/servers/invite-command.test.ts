import { hashCredential } from '@waxwing/service/config';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { commandClock, runRelayCommand } from '../command-line-under-test.js';
import { type JoiningUnderTest, newServer, startJoiningUnderTest } from './joining-under-test.js';

eachBackend((backend) => {
  let relay: JoiningUnderTest;
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = await backend.freshUrl();
    relay = await startJoiningUnderTest(databaseUrl);
    relay.time.now = commandClock();
  });
  afterAll(() => relay.close());

  const invite = (...argv: string[]) =>
    runRelayCommand(['servers', 'invite', ...argv], { environment: { RELAY_DATABASE: databaseUrl } });
  const stored = (code: string) =>
    relay.database.db
      .selectFrom('server_invitations')
      .selectAll()
      .where('code_hash', '=', hashCredential(code))
      .executeTakeFirst();

  it('servers invite prints a code for one server, and stores only the hash of the code', async () => {
    const { status, stdout } = await invite('--name', 'Example');
    const [, code = ''] = /^invitation {2}([0-9a-f]{64})\n/.exec(stdout) ?? [];
    expect(status).toBe(0);
    expect(stdout).toContain('One server may use it until 2026-03-18T03:33:20.000Z.');
    expect(await stored(code)).toMatchObject({
      name: 'Example',
      hostname: null,
      server_id: null,
      expires_at: commandClock() + 7 * 86_400_000,
    });
    expect(JSON.stringify(await stored(code))).not.toContain(code);
    const form = newServer({ invitation: code });
    expect((await relay.join(form)).body.created).toBe(true);
    expect(await stored(code)).toBeUndefined();
  });

  it.each([
    [['--hostname', 'Chat.Example.org:443'], { hostname: 'chat.example.org', server_id: null }],
    [
      ['--server-id', '6CDE5F7A-1F7E-4978-9716-49F69EBFC9FE', '--expires', '12h'],
      { hostname: null, server_id: '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe' },
    ],
  ])('servers invite %j creates an invitation for that server only', async (argv, named) => {
    const { status, stdout } = await invite(...argv, '--json');
    expect(status).toBe(0);
    const { invitation, ...printed } = JSON.parse(stdout);
    expect(printed).toMatchObject(named);
    expect(await stored(invitation)).toMatchObject(named);
  });

  it.each([
    [['--expires', '0d'], 2, 'must be minutes, hours or days'],
    [['--expires', '366d'], 2, 'at most 365d'],
    [['--expires', 'soon'], 2, 'must be minutes, hours or days'],
    [['--server-id', 'x'], 2, 'must be a UUID'],
    [['--hostname', 'https://chat.example.org'], 1, 'is not a hostname'],
    [['--hostname', 'a.org', '--server-id', '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe'], 2, 'server-id'],
  ])('servers invite %j is refused', async (argv, exit, sentence) => {
    const { status, stdout, stderr } = await invite(...argv);
    expect({ status, stdout }).toEqual({ status: exit, stdout: '' });
    expect(stderr).toContain(sentence);
  });
});
