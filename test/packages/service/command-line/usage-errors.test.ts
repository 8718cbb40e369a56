import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandGroup, runProgram, type Terminal } from '@waxwing/service/command-line';
import { fileTrouble, readPrivateFile, Secret } from '@waxwing/service/config';
import { Option } from 'commander';
import { expect, it } from 'vitest';

/** Runs a program with one command in a group. Returns its standard error and exit status. */
async function typed(...argv: string[]) {
  const said: string[] = [];
  const terminal: Terminal = {
    environment: {},
    clock: () => 0,
    print: () => undefined,
    say: (text) => void said.push(text),
    ask: async () => undefined,
    readSecret: async () => new Secret(''),
  };
  const serve = { description: 'run', run: async () => undefined, checks: async () => [] };
  const add: CommandGroup['add'] = async (group) => {
    group
      .command('move')
      .argument('<key>', 'which')
      .requiredOption('--to <place>', 'where')
      .addOption(new Option('--how <way>', 'how').choices(['fast', 'slow']))
      .action(() => undefined);
  };
  const groups = () => [{ name: 'keys', description: 'keys', add }];
  const settings = { prefix: 'TEST_', defaultFile: '/nowhere/test.env' };
  const program = {
    name: 'waxwing-test',
    description: 'A test',
    version: () => '1',
    serve,
    groups,
    settings,
  };
  return { status: await runProgram(program, argv, terminal), said: said.join('\n') };
}

const look = '"waxwing-test keys move --help" lists what you can type.';

it.each([
  [
    ['nonsense'],
    'waxwing-test: there is no command "nonsense": "waxwing-test --help" lists what you can type.',
  ],
  [
    ['serv'],
    'waxwing-test: there is no command "serv": did you mean "serve"? "waxwing-test --help" lists what you can type.',
  ],
  [
    ['serve', 'x'],
    'waxwing-test serve: too many arguments (1, and the maximum is 0): "waxwing-test serve --help" lists what you can type.',
  ],
  [
    ['keys', 'mve'],
    'waxwing-test keys: there is no command "mve": did you mean "move"? "waxwing-test keys --help" lists what you can type.',
  ],
  [['keys', 'move', '--to', 'x'], `waxwing-test keys move: <key> is missing: ${look}`],
  [['keys', 'move', 'k'], `waxwing-test keys move: the option --to <place> is missing: ${look}`],
  [['keys', 'move', 'k', '--to'], `waxwing-test keys move: the option --to <place> needs a value: ${look}`],
  [
    ['keys', 'move', 'k', '--to', 'x', '--too'],
    `waxwing-test keys move: there is no option --too: did you mean --to? ${look}`,
  ],
  [
    ['keys', 'move', 'k', '--to', 'x', '--how', 'no'],
    `waxwing-test keys move: --how <way> is "no": it must be one of fast, slow: ${look}`,
  ],
  [
    ['completion', 'tcsh'],
    'waxwing-test completion: <shell> is "tcsh": it must be one of bash, zsh, fish: "waxwing-test completion --help" lists what you can type.',
  ],
])('%j leads to one sentence that says what is wrong, where, and which help to read', async (argv, said) => {
  expect(await typed(...argv)).toEqual({ status: 2, said });
});

it('a file system error is described in plain words', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-file-'));
  const path = join(folder, 'missing');
  await expect(readPrivateFile(path, 'the key')).rejects.toThrow(
    `The file ${path} (the key) cannot be read: there is no such file; check its path.`,
  );
  expect(fileTrouble(Object.assign(new Error('EMFILE: too many'), { code: 'EMFILE' }))).toBe(
    'EMFILE: too many',
  );
});
