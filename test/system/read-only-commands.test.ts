import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-reading-'));
  folders.push(folder);
  return folder;
}

type Settings = Readonly<Record<string, string>>;

/** Runs a built command in a folder. Resolves to the exit status. */
function run(program: 'relay' | 'server', words: string, cwd: string, settings: Settings): Promise<number> {
  const file = join(root, `apps/${program}/bin/waxwing-${program}.js`);
  const env = { PATH: process.env.PATH, ...settings };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file, ...words.split(' ')], { cwd, env }, (error) =>
      resolve(Number(error?.code ?? 0)),
    );
    child.stdin?.end();
  });
}

/**
 * Lists every file below a folder with its mode and content hash, and every folder with its mode. Excludes a database's
 * write-ahead log: SQLite needs the log even for reading, and may leave it behind until the next command.
 */
function snapshotOf(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const others = names.filter((name) => !/\.sqlite-(?:wal|shm)$/.test(name));
  return others.map((name) => {
    const path = join(folder, name);
    const facts = statSync(path);
    return `${name} ${facts.mode} ${facts.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''}`;
  });
}

const uuid = '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe';
const programs = [
  {
    program: 'server',
    settings: { SERVER_DATABASE: 'sqlite:server.sqlite', SERVER_UPLOADS: 'disk:uploads' },
    elsewhere: { SERVER_DATABASE: 'sqlite:data/server.sqlite', SERVER_UPLOADS: 'disk:more/uploads' },
    // The organization's UUID is created on first use.
    setup: ['db migrate', 'realm show'],
    reading: [
      ...[
        'serve --check',
        'users list',
        'realm show',
        'realm settings',
        'push status',
        'db status',
        'db export',
      ],
      ...['queue list', 'queue show 1'],
    ],
    changing: [
      ...['users set a@example.com --role owner', 'users set-password a@example.com'],
      ...[
        'users rotate-key a@example.com',
        'users deactivate a@example.com',
        'users reactivate a@example.com',
      ],
      ...['realm set name x', 'push test --user a@example.com', 'push disable', 'push rotate-credentials'],
      ...['queue retry 1', 'queue drop 1'],
    ],
  },
  {
    program: 'relay',
    settings: {
      RELAY_DATABASE: 'sqlite:relay.sqlite',
      RELAY_KEY_RING: 'ring.age',
      RELAY_KEY_RING_IDENTITY_FILE: 'identity',
    },
    elsewhere: {
      RELAY_DATABASE: 'sqlite:data/relay.sqlite',
      RELAY_KEY_RING: 'keys/ring.age',
      RELAY_KEY_RING_IDENTITY_FILE: 'keys/identity',
    },
    setup: ['db migrate', 'keys init'],
    reading: [
      ...['serve --check', 'servers list', `servers show ${uuid}`, 'apps status', 'apps check', 'apps vapid'],
      ...['keys list', 'keys export-public', 'keys verify', 'db status', 'db export', 'queue list'],
      ...['queue show 1'],
    ],
    changing: [
      ...['servers invite', 'servers add --name x', `servers suspend ${uuid}`, `servers remove ${uuid}`],
      ...['apps confirm-deletions x', 'apps remove-vapid x', 'keys rotate', 'keys rewrap', 'keys mend-dates'],
      ...['keys rotate-signing-key', 'keys rotate-token-key', 'keys remove-unreadable', 'keys export-stock'],
      ...['keys add-recovery-key new', 'keys move', 'queue retry 1', 'queue drop 1'],
    ],
  },
] as const;

describe.each(programs)('waxwing-$program', ({ program, settings, elsewhere, setup, reading, changing }) => {
  it('creates nothing before its setup, except by commands of the setup', async () => {
    const given = [{}, settings, elsewhere];
    for (const [index, words] of [...reading, ...changing].entries()) {
      // Runs the check with each of the given settings, and every other command with one of them.
      const chosen = index === 0 ? given : [given[index % 3] ?? {}];
      for (const each of chosen) {
        const folder = emptyFolder();
        await run(program, words, folder, each);
        expect([words, each, snapshotOf(folder)]).toEqual([words, each, []]);
      }
    }
  }, 180_000);

  it('changes nothing in commands that only read', async () => {
    const folder = emptyFolder();
    for (const words of setup) expect(await run(program, words, folder, settings)).toBe(0);
    const before = snapshotOf(folder);
    expect(await run(program, 'serve --check', folder, settings)).toBe(0);
    for (const words of reading) {
      await run(program, words, folder, settings);
      expect([words, snapshotOf(folder)]).toEqual([words, before]);
    }
  }, 180_000);
});
