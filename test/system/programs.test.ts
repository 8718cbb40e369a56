import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const programs = ['relay', 'server', 'vendors', 'quickstart'];
const bin = (program: string) => join(root, `apps/${program}/bin/waxwing-${program}.js`);
const run = (program: string, args: readonly string[]) =>
  spawnSync(bin(program), args, { encoding: 'utf8', cwd: root });

/** Runs a script in a shell and returns its output lines. Returns `undefined` if the shell is not installed. */
function shell(name: string, flags: readonly string[], script: string): string[] | undefined {
  const { stdout, stderr, error } = spawnSync(name, [...flags, '-c', script], { encoding: 'utf8' });
  if (error !== undefined) return undefined;
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

const typed = {
  'waxwing-relay ke': ['keys'],
  'waxwing-relay keys ro': ['rotate', 'rotate-signing-key', 'rotate-token-key'],
  'waxwing-relay keys move --r': ['--remove-old'],
  'waxwing-relay --json keys li': ['list'],
  'waxwing-server completion z': ['zsh'],
  'waxwing-vendors --port': ['--port-base'],
};
const cases = Object.entries(typed).map(([line, expected]) => ({ line, expected }));
const scripts = new Map<string, string>();
/** The completion script of the program in a command line. Generated once per program and shell. */
function scriptFor(line: string, name: string): string {
  const program = /^waxwing-(\w+)/.exec(line)?.[1] ?? '';
  const key = `${program} ${name}`;
  const script = scripts.get(key) ?? run(program, ['completion', name]).stdout;
  scripts.set(key, script);
  return script;
}
const isThere = (name: string) => spawnSync(name, ['--version']).error === undefined;

describe('the programs', () => {
  it.each(programs)('waxwing-%s prints only its version with --version', (program) => {
    const { version } = JSON.parse(readFileSync(join(root, `apps/${program}/package.json`), 'utf8'));
    expect(run(program, ['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each(['relay', 'server', 'vendors'])(
    'waxwing-%s survives when the reader of its output closes the pipe',
    (program) => {
      const script = `exec 3>&1; (${process.execPath} ${bin(program)} completion zsh; echo $? >&3) | true`;
      const { stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
      expect([stdout, stderr]).toEqual(['0\n', '']);
    },
  );

  it.runIf(existsSync('/dev/full'))(
    'waxwing-relay reports in one sentence that its result cannot be written',
    () => {
      const script = `${process.execPath} ${bin('relay')} completion zsh > /dev/full`;
      const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
      const sentence = 'waxwing-relay: The result cannot be written: the disk is full; free some space.\n';
      expect([status, stderr]).toEqual([1, sentence]);
    },
  );

  it.each(programs)('waxwing-%s names the required version in one sentence if Node is too old', (program) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.18.3' }); require(${JSON.stringify(bin(program))})`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', pretend], { encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      `waxwing-${program} needs Node 20.19 or newer, but this is Node 20.18.3: install a newer version.\n`,
    ]);
  });

  it.each(programs)('waxwing-%s starts with JavaScript that every version of Node can parse', (program) => {
    const text = readFileSync(bin(program), 'utf8').replace(/^(?:#!|\s*\/\/).*$/gm, '');
    expect(text).not.toMatch(/\b(?:const|let|class|import|export|async|await|of)\b|=>|`|\.\.\.|\?\.|,\s*\)/);
    expect(text).toBe(readFileSync(bin('relay'), 'utf8').replace(/^(?:#!|\s*\/\/).*$/gm, ''));
  });
});

describe('the shell completion', () => {
  it.each(cases)('completes $line in bash', ({ line, expected }) => {
    const words = line.split(' ');
    const found = shell(
      'bash',
      ['--norc'],
      `${scriptFor(line, 'bash')}
      COMP_WORDS=(${words.join(' ')}) COMP_CWORD=${words.length - 1}
      $(complete -p ${words[0]} | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    expect(found).toEqual(expected);
  });

  it.runIf(isThere('zsh')).each(cases)('completes $line in zsh', ({ line, expected }) => {
    const words = line.split(' ');
    // Simulates zsh, which sets `words` and CURRENT before the call and matches the results afterwards. The `_describe`
    // stub runs a program to check that the function has not overwritten PATH.
    const found = shell(
      'zsh',
      ['-f'],
      `compdef() { completer=$1 }
      _describe() { env true && print -rl -- \${(P)4} }
      ${scriptFor(line, 'zsh')}
      words=(${words.join(' ')}) CURRENT=${words.length}
      $completer`,
    );
    const matching = found?.filter((text) => text.includes(':') && text.startsWith(words.at(-1) ?? ''));
    expect(matching?.map((text) => text.split(':')[0])).toEqual(expected);
  });

  it.runIf(isThere('fish')).each(cases)('completes $line in fish', ({ line, expected }) => {
    const found = shell('fish', ['--no-config'], `${scriptFor(line, 'fish')}\ncomplete -C '${line}'`);
    expect(found?.map((text) => text.split('\t')[0])).toEqual(expected);
  });
});
