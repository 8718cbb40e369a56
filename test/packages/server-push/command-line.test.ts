import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServerPush, openPushDatabase, startServerPush } from '@waxwing/server-push';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { systemClock } from '@waxwing/service/lifecycle';
import { afterAll, expect, it } from 'vitest';
import { runPushCommand } from '#server-push/command-line.js';
import { freePort } from '../../support/free-ports.js';
import { eachBackend } from '../../support/test-databases.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-server-push-'));
const keyFile = join(dir, 'key');
writeFileSync(keyFile, '5d'.repeat(32), { mode: 0o600 });
afterAll(() => rmSync(dir, { recursive: true }));

const relaySettings = {
  SERVER_PUSH_RELAY_URL: 'https://relay.example.com',
  SERVER_PUSH_RELAY_SERVER_ID: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  SERVER_PUSH_RELAY_SERVER_KEY_FILE: keyFile,
};

async function run(command: string, environment: Record<string, string>) {
  const [printed, said]: [string[], string[]] = [[], []];
  const terminal: Terminal = {
    environment,
    clock: systemClock,
    print: (text) => void printed.push(text),
    say: (text) => void said.push(text),
    ask: async () => undefined,
    readSecret: async () => new Secret(''),
  };
  const code = await runPushCommand(command.split(' '), terminal);
  return { code, printed: printed.join('\n'), said: said.join('\n') };
}

it('a command of a mounted push names a missing setting', async () => {
  expect(await run('db status', {})).toEqual({
    code: 1,
    printed: '',
    said: 'waxwing-server-push: Set SERVER_PUSH_DATABASE to the push database, as for the server: sqlite:<file> or postgres://….',
  });
  expect((await run('serve', {})).code).toBe(2);
});

it('the status of a mounted push names each missing or wrong setting', async () => {
  const { code, printed } = await run('status --json', {
    SERVER_PUSH_REALM_UUID: 'mine',
    SERVER_PUSH_REALM_URL: `https://${'long.'.repeat(120)}example`,
    SERVER_PUSH_RELAY_URL: 'http://relay.example',
    SERVER_PUSH_KEYFILE: 'key',
  });
  expect(code).toBe(1);
  const causes = (JSON.parse(printed) as { cause: string }[]).map(({ cause }) => cause).join('\n');
  for (const name of ['DATABASE', 'REALM_UUID', 'REALM_URL', 'REALM_NAME', 'RELAY_URL', 'RELAY_SERVER_ID']) {
    expect(causes).toContain(`SERVER_PUSH_${name} `);
  }
  expect(causes).toContain('SERVER_PUSH_KEYFILE is not a setting');
});

it('the status of a mounted push names a missing or unreachable database', async () => {
  const settings = {
    SERVER_PUSH_REALM_UUID: relaySettings.SERVER_PUSH_RELAY_SERVER_ID,
    SERVER_PUSH_REALM_URL: 'https://bank.example.com',
    SERVER_PUSH_REALM_NAME: 'Bank',
  };
  const unreachable = `postgres://postgres@127.0.0.1:${await freePort()}/push`;
  const remedies = [
    [`sqlite:${join(dir, 'none.sqlite')}`, 'Start the server once to create it'],
    [unreachable, 'Nothing listens there; start PostgreSQL'],
  ] as const;
  for (const [SERVER_PUSH_DATABASE, remedy] of remedies) {
    const { code, printed } = await run('status --json', { ...settings, SERVER_PUSH_DATABASE });
    const expected = { check: 'database', ok: false, remedy: expect.stringContaining(remedy) };
    expect([code, JSON.parse(printed)]).toMatchObject([1, [expected]]);
  }
});

it('the help of a mounted push lists its commands and settings', async () => {
  const { code, printed } = await run('--help', {});
  expect(code).toBe(0);
  for (const command of ['enable', 'status', 'test', 'disable', 'rotate-credentials', 'db', 'queue']) {
    expect(printed).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
  }
  const page = readFileSync(join(import.meta.dirname, '../../../docs/mounting.md'), 'utf8');
  const settings = new Set(page.match(/\bSERVER_PUSH_\w+/g));
  settings.delete('SERVER_PUSH_');
  expect(new Set(printed.match(/\bSERVER_PUSH_\w+/g))).toEqual(settings);
});

it('docs/mounting.md lists all tables of push', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/mounting.md'), 'utf8');
  const database = await openPushDatabase({ url: `sqlite:${join(dir, 'tables.sqlite')}` });
  try {
    const tables = await database.db.introspection.getTables();
    const names = tables.map(({ name }) => name).filter((name) => !/^(sqlite_|kysely_)/.test(name));
    const row = page.split('\n').find((line) => line.startsWith('| `SERVER_PUSH_DATABASE`')) ?? '';
    expect(row.match(/`[a-z]+(_[a-z]+)*`/g)?.map((name) => name.slice(1, -1))).toEqual(names.toSorted());
  } finally {
    await database.close();
  }
});

eachBackend((backend) => {
  it('a command of a mounted push explains why a user cannot be tested', async () => {
    const environment = {
      SERVER_PUSH_DATABASE: await backend.freshUrl(),
      SERVER_PUSH_REALM_UUID: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
      SERVER_PUSH_REALM_URL: 'https://game.example.com',
      SERVER_PUSH_REALM_NAME: 'Game',
    };
    expect((await run('status', environment)).printed).toContain('Start the server once to create it');
    const push = await startServerPush({ environment, authenticate: async () => undefined });
    try {
      expect(push.isConfigured).toBe(false);
      const notEnabled = await run('test --user 7', environment);
      expect(notEnabled.said).toContain(
        'run waxwing-server-push enable --relay URL, or set SERVER_PUSH_RELAY_URL',
      );
      const { said } = await run('enable --relay https://relay.example.com', environment);
      expect(said).toContain('give one with --contact');
      const withRelay = { ...environment, ...relaySettings };
      expect((await run('test --user ada', withRelay)).said).toContain('"ada" is not the id of a user');
      expect((await run('test --user 7', withRelay)).said).toContain('No phone of 7 is registered');
      expect((await run('disable --yes', withRelay)).said).toContain(
        'The SERVER_PUSH_RELAY_ settings name a relay',
      );
    } finally {
      await push.close();
    }
  });

  it('a command of a mounted push names its own commands if the server has not left a relay yet', async () => {
    const environment = {
      SERVER_PUSH_DATABASE: await backend.freshUrl(),
      SERVER_PUSH_REALM_UUID: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
      SERVER_PUSH_REALM_URL: 'https://game.example.com',
      SERVER_PUSH_REALM_NAME: 'Game',
      SERVER_PUSH_KEY_FILE: keyFile,
    };
    const push = await startServerPush({ environment, authenticate: async () => undefined });
    try {
      const relay = `http://127.0.0.1:${await freePort()}`;
      expect((await run(`enable --relay ${relay} --contact ada@game.example`, environment)).code).toBe(1);
      await push.database.write(({ db }) =>
        db.updateTable('relay_accounts').set({ state: 'leaving' }).execute(),
      );
      expect((await run('status', environment)).printed).toContain(
        `Run waxwing-server-push disable again to finish, or waxwing-server-push enable --relay ${relay} to`,
      );
    } finally {
      await push.close();
    }
  });

  it('a command of a mounted push shows and drops a job while the server runs', async () => {
    const url = await backend.freshUrl();
    const database = await openPushDatabase({ url });
    const push = await createServerPush({
      database,
      authenticate: async () => undefined,
      realm: { uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836', url: 'https://game.example.com', name: 'Game' },
      relay: { kind: 'not-configured' },
    });
    const environment = { SERVER_PUSH_DATABASE: url };
    try {
      const status = JSON.parse((await run('db status --json', environment)).printed);
      expect(status).toMatchObject({ pending: [], newer: [] });
      await push.notify([7], { content: { type: 'payload', payload: { secret: 'the word' } } });
      const { jobs } = JSON.parse((await run('queue list --json', environment)).printed);
      expect(jobs).toMatchObject([{ kind: 'notifications/deliver-notification' }]);
      const shown = (await run(`queue show ${jobs[0].id}`, environment)).printed;
      expect(shown).toContain('7');
      expect(shown).not.toContain('the word');
      expect((await run(`queue drop ${jobs[0].id} --yes`, environment)).code).toBe(0);
      expect(await database.jobs.list({})).toEqual([]);
    } finally {
      await push.close();
      await database.close();
    }
  });
});
