import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandGroup, processTerminal, runProgram, type Terminal } from '@waxwing/service/command-line';
import { ConfigurationError, Secret } from '@waxwing/service/config';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'waxwing-env-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

const defaultFile = join(folder, 'default.env');
const otherFile = join(folder, 'other.env');
const write = (file: string, text: string, mode = 0o600): void => {
  writeFileSync(file, text);
  chmodSync(file, mode);
};

/** Problems that the next command reports in its settings. */
let wrong: string[] = [];

/** Runs a command that prints the settings that it reads. */
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
          if (wrong.length > 0) throw new ConfigurationError(wrong.splice(0));
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
        checks: async () => [],
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

it('a command and the service read the default file, if it exists, unless they have settings', async () => {
  rmSync(defaultFile, { force: true });
  expect(await run({}, 'birds', 'list')).toEqual({ status: 0, said: '', seen: {} });
  write(defaultFile, 'TEST_DATABASE=sqlite:default.sqlite\n');
  expect((await run({ PATH: '/bin' }, 'birds', 'list')).seen).toMatchObject({
    TEST_DATABASE: 'sqlite:default.sqlite',
  });
  expect((await run({}, 'serve')).seen).toEqual({ TEST_DATABASE: 'sqlite:default.sqlite' });
  expect((await run({ TEST_PORT: '1' }, 'birds', 'list')).seen).toEqual({ TEST_PORT: '1' });
});

it('--env-file names another file, and variables in the environment take precedence', async () => {
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
])('%s is a secret, so the file must be private', async (line) => {
  write(otherFile, `${line}\n`, 0o644);
  const { status, said } = await run({ TEST_PORT: '1' }, 'birds', 'list', '--env-file', otherFile);
  expect([status, said]).toEqual([1, expect.stringContaining('has mode 0644, which lets others use it')]);
  expect(said).not.toContain('hunter2');
  chmodSync(otherFile, 0o600);
  const read = await run({ TEST_PORT: '1' }, 'birds', 'list', '--env-file', otherFile);
  expect(read).toMatchObject({ status: 0, said: '' });
});

it.each(['', '# nothing\n', 'OTHER_DATABASE=sqlite:other.sqlite\n'])(
  'a file without a setting of the program is rejected, unless the environment has one: %j',
  async (text) => {
    write(otherFile, text);
    for (const words of [['birds', 'list'], ['serve']]) {
      expect(await run({ PATH: '/bin' }, ...words, '--env-file', otherFile)).toEqual({
        status: 1,
        said: `waxwing-test: The environment file ${otherFile} has no setting that begins with TEST_: name the file of this program.`,
        seen: undefined,
      });
    }
    const { status, seen } = await run({ TEST_PORT: '1' }, 'birds', 'list', '--env-file', otherFile);
    expect([status, seen]).toEqual([0, expect.objectContaining({ TEST_PORT: '1' })]);
  },
);

it('an env file sets only the environment variables that the PostgreSQL driver reads', async () => {
  const lines = ['PGPASSWORD=hunter2', 'PGUSER=file', 'PGHOST=db.example', 'TEST_DATABASE=postgres:///birds'];
  write(otherFile, lines.join('\n'));
  const environment = { PGUSER: 'shell' };
  expect(await run(environment, 'birds', 'list', '--env-file', otherFile)).toMatchObject({ status: 0 });
  expect(environment).toEqual({ PGUSER: 'shell', PGPASSWORD: 'hunter2', PGHOST: 'db.example' });
});

it('an env file without a secret may be readable by all users', async () => {
  const lines = ['TEST_URL=https://push.example.com:8443', 'TEST_DATABASE=postgres://localhost:5432/birds'];
  write(otherFile, `${lines.join('\n')}\n`, 0o644);
  expect(await run({}, 'birds', 'list', '--env-file', otherFile)).toMatchObject({ status: 0, said: '' });
});

it.each([
  ['a comment', '\uFEFF# a comment\n; another of C:\\\nTEST_A=1', '1'],
  ['Windows line endings', '# a comment\r\nTEST_A=one \\\r\nvalue\r\n', 'one value'],
  ['export', 'export TEST_A=plain # no comment', 'plain # no comment'],
  ['double quotes', 'TEST_A="two words, \\"quoted\\" \\\\ \\n"\r', 'two words, "quoted" \\ \\n'],
  ['single quotes', "TEST_A='C# $HOME \\'", 'C# $HOME \\'],
  ['nothing', 'TEST_A=', ''],
  ['spaces', "  TEST_A =  it's so  ", "it's so"],
  ['quotes of both kinds', `TEST_A="one "'two' three`, 'one twothree'],
  ['a continued line', 'TEST_A=one \\\n  two\nTEST_B=3', 'one   two'],
  ['a quoted value of several lines', 'TEST_A="one\ntwo"\nTEST_B=3', 'one\ntwo'],
  ['escapes', 'TEST_A=C:\\\\file\\ ', 'C:\\file '],
])('an env file is read as by systemd: %s', async (_what, text, value) => {
  write(otherFile, text);
  const { seen, said } = await run({}, 'birds', 'list', '--env-file', otherFile);
  expect(said).toBe('');
  expect(seen?.TEST_A).toBe(value);
  expect(seen?.TEST_B).toBe(text.includes('TEST_B') ? '3' : undefined);
});

it.each([
  ['TEST_A=1\nhunter2\n', 'line 2, is not NAME=value: correct it.'],
  ['\uFEFF# comment\n\n  hunter2', 'line 3, is not NAME=value: correct it.'],
  ['TEST_A="1\n2"\n1TEST=hunter2', 'line 3, is not NAME=value: correct it.'],
  ['TEST_A=1\nTEST_B="hunter2\n', 'line 2, begins a quoted value that does not end: add the closing quote.'],
  ["TEST_A='hunter2", 'line 1, begins a quoted value that does not end: add the closing quote.'],
])('a mistake is reported with its line, but without the content (%j)', async (text, problem) => {
  write(otherFile, text);
  expect(await run({}, 'birds', 'list', '--env-file', otherFile)).toMatchObject({
    status: 1,
    said: `waxwing-test: The environment file ${otherFile}, ${problem}`,
  });
});

it('an env file has a maximum size', async () => {
  write(otherFile, `TEST_A=1\n${'#'.repeat(64 * 1024 - 9)}`);
  expect(await run({}, 'birds', 'list', '--env-file', otherFile)).toMatchObject({ status: 0 });
  write(otherFile, `TEST_A=1\n${'#'.repeat(64 * 1024 - 8)}`);
  expect(await run({}, 'birds', 'list', '--env-file', otherFile)).toMatchObject({
    status: 1,
    said: `waxwing-test: The environment file ${otherFile} is larger than 64 KiB: name a file with settings, one NAME=value per line.`,
  });
});

it('an env file must be a regular file, not a pipe or an endless device', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', ['-m', '600', pipe]);
  const said = async (path: string) => (await run({}, 'birds', 'list', '--env-file', path)).said;
  expect(await said(pipe)).toBe(
    `waxwing-test: The environment file ${pipe} is a named pipe: name a regular file.`,
  );
  expect(await said('/dev/zero')).toContain('/dev/zero is a device: name a regular file.');
  expect(await said(folder)).toContain(`${folder} is a folder: name a file.`);
  expect(await run({}, 'birds', 'list', '--env-file', '/dev/null')).toMatchObject({ status: 0, said: '' });
});

it('an invalid setting is reported with the line that sets it', async () => {
  write(otherFile, '# settings\nTEST_PORT=x\nTEST_NAME=1\n');
  wrong = ['TEST_PORT must be a number.', 'TEST_NAME is too short.', 'TEST_OTHER is missing.'];
  const { said, status } = await run({ TEST_NAME: '1' }, 'birds', 'list', '--env-file', otherFile);
  expect([status, said]).toEqual([
    1,
    `waxwing-test: ${otherFile}, line 2: TEST_PORT must be a number.\n  TEST_NAME is too short.\n  TEST_OTHER is missing.`,
  ]);
});
