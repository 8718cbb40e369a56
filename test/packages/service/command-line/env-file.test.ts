import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandGroup, processTerminal, runProgram, type Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'waxwing-env-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

const defaultFile = join(folder, 'default.env');
const otherFile = join(folder, 'other.env');
const write = (file: string, text: string, mode = 0o600): void => {
  writeFileSync(file, text);
  chmodSync(file, mode);
};

/** Runs a command that prints the settings it sees. */
async function run(environment: Record<string, string>, ...argv: string[]) {
  const said: string[] = [];
  let seen: Terminal['environment'] | undefined;
  const terminal: Terminal = {
    environment,
    setVariables: processTerminal(environment).setVariables,
    clock: () => 0,
    print: () => undefined,
    say: (text) => void said.push(text),
    ask: async () => undefined,
    readSecret: async () => new Secret(''),
  };
  const groups = (own: Terminal): CommandGroup[] => [
    {
      name: 'birds',
      description: 'birds',
      add: async (birds) => {
        birds.command('list').action(() => {
          seen = own.environment;
        });
      },
    },
  ];
  const status = await runProgram(
    {
      name: 'waxwing-test',
      description: 'A test',
      version: () => '1',
      serve: {
        description: 'run',
        run: async (own) => {
          seen = own.environment;
        },
      },
      groups,
      settings: { prefix: 'TEST_', defaultFile },
    },
    argv,
    terminal,
  );
  return { status, said: said.join('\n'), seen };
}

it('without settings a command and the service read the default file, if it exists', async () => {
  rmSync(defaultFile, { force: true });
  expect(await run({}, 'birds', 'list')).toEqual({ status: 0, said: '', seen: {} });
  write(defaultFile, 'TEST_DATABASE=sqlite:default.sqlite\n');
  expect((await run({ PATH: '/bin' }, 'birds', 'list')).seen).toMatchObject({
    TEST_DATABASE: 'sqlite:default.sqlite',
  });
  expect((await run({}, 'serve')).seen).toEqual({ TEST_DATABASE: 'sqlite:default.sqlite' });
  expect((await run({ TEST_PORT: '1' }, 'birds', 'list')).seen).toEqual({ TEST_PORT: '1' });
});

it('--env-file names another file, before or after the command; what the environment sets takes precedence', async () => {
  write(defaultFile, 'TEST_DATABASE=sqlite:default.sqlite\n');
  write(otherFile, 'TEST_DATABASE=sqlite:other.sqlite\nTEST_PORT=2\n', 0o644);
  const expected = { TEST_DATABASE: 'sqlite:other.sqlite', TEST_PORT: '3' };
  expect((await run({ TEST_PORT: '3' }, '--env-file', otherFile, 'birds', 'list')).seen).toEqual(expected);
  expect((await run({ TEST_PORT: '3' }, 'birds', 'list', '--env-file', otherFile)).seen).toEqual(expected);
  const missing = await run({}, 'birds', 'list', '--env-file', `${otherFile}.none`);
  expect(missing).toMatchObject({
    status: 1,
    said: `waxwing-test: The environment file ${otherFile}.none cannot be read: there is no such file; check its path.`,
  });
});

it.each([
  ['TEST_DATABASE=postgres://me:hunter2@127.0.0.1/birds'],
  ['TEST_DATABASE="postgres:///birds?user=me&password=hunter2"'],
  ['PGPASSWORD=hunter2'],
  ['TEST_API_KEY=hunter2'],
])('%s is a secret, so that the file must be private', async (line) => {
  write(otherFile, `${line}\n`, 0o644);
  const { status, said } = await run({}, 'birds', 'list', '--env-file', otherFile);
  expect([status, said]).toEqual([1, expect.stringContaining('has mode 0644, which lets others use it')]);
  expect(said).not.toContain('hunter2');
  chmodSync(otherFile, 0o600);
  expect(await run({}, 'birds', 'list', '--env-file', otherFile)).toMatchObject({ status: 0, said: '' });
});

it('gives the process the variables that the PostgreSQL driver reads there, and no others', async () => {
  const lines = ['PGPASSWORD=hunter2', 'PGUSER=file', 'PGHOST=db.example', 'TEST_DATABASE=postgres:///birds'];
  write(otherFile, lines.join('\n'));
  const environment = { PGUSER: 'shell' };
  expect(await run(environment, 'birds', 'list', '--env-file', otherFile)).toMatchObject({ status: 0 });
  expect(environment).toEqual({ PGUSER: 'shell', PGPASSWORD: 'hunter2', PGHOST: 'db.example' });
});

it('may be readable for all while it holds no secret: a port is no password', async () => {
  const lines = ['TEST_URL=https://push.example.com:8443', 'TEST_DATABASE=postgres://localhost:5432/birds'];
  write(otherFile, `${lines.join('\n')}\n`, 0o644);
  expect(await run({}, 'birds', 'list', '--env-file', otherFile)).toMatchObject({ status: 0, said: '' });
});

it('is read as systemd reads it', async () => {
  const lines = [
    '\uFEFF# a comment',
    '; another',
    '',
    'export TEST_A=plain # no comment',
    'TEST_B="two words, \\"quoted\\""\r',
    "TEST_C='C# $HOME'",
    'TEST_D=',
    "  TEST_E = it's",
  ];
  write(otherFile, lines.join('\n'));
  const { seen } = await run({}, 'birds', 'list', '--env-file', otherFile);
  expect(seen).toEqual({
    TEST_A: 'plain # no comment',
    TEST_B: 'two words, "quoted"',
    TEST_C: 'C# $HOME',
    TEST_D: '',
    TEST_E: "it's",
  });
  write(otherFile, 'TEST_A=1\nhunter2\n');
  expect((await run({}, 'birds', 'list', '--env-file', otherFile)).said).toBe(
    `waxwing-test: The environment file ${otherFile}, line 2, is not NAME=value: correct it.`,
  );
});
