import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const sayLoadedModules = join(root, 'test/support/say-loaded-modules.mjs');
const folder = mkdtempSync(join(tmpdir(), 'waxwing-help-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a built command. Returns its output and the names of the npm packages that it loads. */
async function run(
  command: 'relay' | 'server' | 'server-push' | 'vendors' | 'quickstart',
  ...argv: string[]
) {
  const folder = command === 'server-push' ? 'packages' : 'apps';
  const program = join(root, folder, command, `bin/waxwing-${command}.js`);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    ...['--import', sayLoadedModules, program],
    ...argv,
  ]);
  const packages = [...stderr.matchAll(/^loaded .*\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm)];
  return { stdout, packages: [...new Set(packages.map(([, name]) => name))].sort() };
}

/** Settings of a relay with its key ring and database in the test's folder. */
const ring = {
  RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}`,
  RELAY_KEY_RING: join(folder, 'ring.age'),
  RELAY_KEY_RING_IDENTITY_FILE: join(folder, 'identity'),
};

describe.each(['relay', 'server'] as const)('the help of waxwing-%s', (command) => {
  it('loads only the code that parses arguments and reports errors', async () => {
    const { stdout, packages } = await run(command, '--help');
    expect(stdout).toMatch(/^ {2}serve \[options\] {2,}\S.*[\s\S]*^ {2}queue {2,}\S/m);
    expect(packages).toEqual(['close-with-grace', 'commander']);
  });

  it('lists the commands of a group for each way to request help', async () => {
    const { stdout } = await run(command, 'queue', '--help');
    expect(stdout).toMatch(/^ {2}retry .*<id>/m);
    expect((await run(command, 'help', 'queue')).stdout).toBe(stdout);
  });
});

it('the help of waxwing-server-push loads only the code that parses arguments, and names its settings', async () => {
  const { stdout, packages } = await run('server-push', '--help');
  expect(stdout).toMatch(/^ {2}enable .*[\s\S]*^ {2}SERVER_PUSH_DATABASE /m);
  expect(packages).toEqual(['close-with-grace', 'commander']);
});

const groups = [
  ...(['servers', 'apps', 'keys', 'db', 'queue'] as const).map((group) => ['relay', group] as const),
  ...(['users', 'realm', 'push', 'db', 'queue'] as const).map((group) => ['server', group] as const),
];

describe.each(groups)('the help of waxwing-%s %s', (command, group) => {
  it('loads neither the commands’ code nor packages that only the commands need', async () => {
    const { stdout, packages } = await run(command, group, '--help');
    expect(stdout).toMatch(/^Commands:$/m);
    expect(packages).toEqual(['close-with-grace', 'commander']);
  });
});

it('a key command loads only its own code', async () => {
  const program = join(root, 'apps/relay/bin/waxwing-relay.js');
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', sayLoadedModules, program, 'keys', 'init', '--dry-run'],
    { env: { PATH: process.env.PATH, ...ring } },
  );
  expect(stderr).toContain('/keyring/commands/bring-keys.js');
  expect(stderr).not.toMatch(/commands\/(?:move-ring|replace-secrets)\.js|deliveries\/vendors/);
  expect(stderr).not.toMatch(/node_modules\/(?:fastify|@fastify\/formbody|undici|pino)\//);
});

it('a database command loads tables and settings, but not the code that sends push or serves', async () => {
  const program = join(root, 'apps/server/bin/waxwing-server.js');
  const env = { PATH: process.env.PATH, SERVER_DATABASE: `sqlite:${join(folder, 'server.sqlite')}` };
  await promisify(execFile)(process.execPath, [program, 'db', 'migrate'], { env });
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', sayLoadedModules, program, 'realm', 'show'],
    { env },
  );
  expect(stdout).toContain('realm UUID: ');
  expect(stderr).toContain('/server-push/dist/tables.js');
  const packages = [...stderr.matchAll(/^loaded .*\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm)];
  expect(packages.map(([, name]) => name)).not.toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^(?:zod|undici|pino|fastify|libsodium.*|highlight\.js)$/),
    ]),
  );
});

it('a server loads only common packages and one of the two encryption backends', async () => {
  const program =
    "await import('@waxwing/server'); await (await import('@waxwing/sodium/native')).loadFastestSodium();";
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', sayLoadedModules, '--input-type=module', '--eval', program],
    { cwd: join(root, 'apps/server'), env: { PATH: process.env.PATH } },
  );
  expect(stderr).toContain('/node_modules/sodium-native/');
  expect(stderr).toContain('/highlight.js/lib/core.js');
  expect(stderr).not.toMatch(/node_modules\/(?:undici|katex|libsodium|libsodium-wrappers|@aws-sdk)\//);
  expect(stderr).not.toMatch(/highlight\.js\/lib\/(?:index|languages)/);
});

describe.each(['vendors', 'quickstart'] as const)('the help of waxwing-%s', (command) => {
  it('does not load the program', async () => {
    const { stdout, packages } = await run(command, '--help');
    expect(stdout).toMatch(/^ {2}--port-base <\w+> {2,}\S/m);
    expect(packages.filter((name) => !['close-with-grace', 'commander'].includes(name ?? ''))).toEqual([]);
  });
});
