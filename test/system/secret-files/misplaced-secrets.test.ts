import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readRelayEnvironment, runRelayCommand } from '@waxwing/relay';
import { readServerEnvironment, runServerCommand } from '@waxwing/server';
import type { Terminal } from '@waxwing/service/command-line';
import { ConfigurationError, type Environment, Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runPushCommand } from '#server-push/command-line.js';
import { readPushEnvironment } from '#server-push/mounting/read-push-environment.js';

const root = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'waxwing-misplaced-'));
const former = process.cwd();
afterAll(() => {
  process.chdir(former);
  rmSync(folder, { recursive: true, force: true });
});

const key = randomBytes(32);
/** Secrets that a user may paste by mistake, and the part of each that must not be printed. */
const secrets: Record<string, readonly [secret: string, hidden: string]> = {
  'an age identity': ['AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 'QPZRY9X8GF2TVDW0S3JN'],
  'a private key': [
    `-----BEGIN PRIVATE KEY-----\n${key.toString('base64')}\n-----END PRIVATE KEY-----\n`,
    key.toString('base64'),
  ],
  'a private key in one line': [
    `-----BEGIN EC PRIVATE KEY----- ${key.toString('base64')}`,
    key.toString('base64'),
  ],
  'a service account': [`{"type":"service_account","private_key":"q7Zk2Wm3PfV9"}`, 'q7Zk2Wm3PfV9'],
  'a server key': [key.toString('hex'), key.toString('hex')],
  'a key in base64': [`q${key.toString('base64')}`, key.toString('base64').slice(0, 24)],
  'an API key': ['aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY', 'aB3dE5fG7hJ9'],
  'a passphrase': ['correct horse battery staple mountain', 'horse battery'],
  'a URL with a password': ['postgres://user:hunter2@127.0.0.1:1/x', 'hunter2'],
  'a mistyped URL with a password': ['postgres:user:hunter2@127.0.0.1', 'hunter2'],
  'a connection string': ['host=127.0.0.1 password=hunter2', 'hunter2'],
};
/** Kinds of values that may contain any text. They are printed even if they contain words or API keys. */
const texts = ['name', 'text', 'value'];
const inNoText = [
  'an age identity',
  'a private key',
  'a private key in one line',
  'a service account',
  'a server key',
];

type Run = (argv: readonly string[], terminal: Terminal) => Promise<number>;
interface Program {
  readonly run: Run;
  readonly readSettings: (environment: Environment) => unknown;
  /** Commands that read the program's settings. */
  readonly reading: readonly (readonly string[])[];
  readonly environment: Readonly<Record<string, string>>;
}

const programs: Record<string, Program> = {
  'waxwing-relay': {
    run: runRelayCommand,
    readSettings: readRelayEnvironment,
    reading: [
      ['db', 'status'],
      ['serve', '--check'],
      ['keys', 'list'],
    ],
    environment: {
      RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}`,
      RELAY_KEY_RING: join(folder, 'ring.age'),
      RELAY_KEY_RING_IDENTITY_FILE: join(folder, 'identity'),
    },
  },
  'waxwing-server': {
    run: runServerCommand,
    readSettings: readServerEnvironment,
    reading: [
      ['db', 'status'],
      ['serve', '--check'],
      ['push', 'status'],
    ],
    environment: { SERVER_DATABASE: `sqlite:${join(folder, 'server.sqlite')}` },
  },
  'waxwing-server-push': {
    run: runPushCommand,
    readSettings: readPushEnvironment,
    reading: [['db', 'status'], ['status']],
    environment: {
      SERVER_PUSH_DATABASE: `sqlite:${join(folder, 'push.sqlite')}`,
      SERVER_PUSH_REALM_UUID: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
      SERVER_PUSH_REALM_URL: 'http://127.0.0.1:1',
      SERVER_PUSH_REALM_NAME: 'Example',
    },
  },
};

async function typed({ run, environment }: Program, argv: readonly string[]) {
  const said: string[] = [];
  const status = await run(argv, {
    environment,
    clock: Date.now,
    print: (text) => void said.push(text),
    say: (text) => void said.push(text),
    ask: async (question) => {
      said.push(question);
      return false;
    },
    readSecret: async () => new Secret(''),
  });
  return { status, said: said.join('\n') };
}

/** An option or argument of a command, and the kind of its value. */
interface Slot {
  readonly option: string | undefined;
  readonly kind: string;
}

/** A program's commands with their options and arguments, read from the program's help. */
async function slotsOf(program: Program, path: readonly string[] = []): Promise<[string[], Slot[]][]> {
  const { said } = await typed(program, [...path, '--help']);
  const [, listed] = /^Commands:\n((?: .*\n?)+)/m.exec(said) ?? [];
  if (listed !== undefined) {
    const names = [...listed.matchAll(/^ {2}([\w-]+)/gm)].map(([, name = '']) => name);
    const inner = names
      .filter((name) => !['help', 'completion', 'serve'].includes(name))
      .map((name) => slotsOf(program, [...path, name]));
    return (await Promise.all(inner)).flat();
  }
  const usage = /^Usage: .*$/m.exec(said)?.[0].replace('[options]', '') ?? '';
  const slots = [...usage.matchAll(/[<[]([\w-]+)[>\]]/g)].map(([, kind = '']) => ({
    option: undefined,
    kind,
  }));
  const options = [...said.matchAll(/^ {2}(--[\w-]+) <([\w|-]+)>/gm)];
  return [[[...path], [...slots, ...options.map(([, option, kind = '']) => ({ option, kind }))]]];
}

/** Names of the settings that a program reads. */
function settingsOf({ readSettings }: Program): string[] {
  const names = new Set<string>();
  const get = (_target: object, name: string | symbol) => void names.add(String(name));
  try {
    readSettings(new Proxy<Environment>({}, { get }));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
  }
  return [...names];
}

const placeholders: Record<string, string> = {
  'server-id': '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  address: 'nobody@example.com',
  url: 'http://127.0.0.1:1',
  place: 'database',
  file: join(folder, 'none.txt'),
  'new-file': join(folder, 'none.txt'),
  id: '123456',
};
const mustBeGiven = ['--to', '--relay', '--user', '--text', '--realm', '--email'];

/** Arguments of a command, with a secret as the value of one option or argument. */
function argumentsWith(path: readonly string[], slots: readonly Slot[], at: Slot, secret: string): string[] {
  const values = slots.flatMap((slot) => {
    const { option, kind } = slot;
    const value = slot === at ? secret : (placeholders[kind] ?? 'one');
    if (option === undefined) return [value];
    return slot === at || mustBeGiven.includes(option) ? [option, value] : [];
  });
  return [...path, ...values];
}

beforeAll(async () => {
  // Prevents a command that creates a file at a relative path from creating it in the repository.
  process.chdir(folder);
  for (const program of Object.values(programs))
    expect(await typed(program, ['db', 'migrate'])).toMatchObject({ status: 0 });
  expect(await typed(programs['waxwing-relay'] as Program, ['keys', 'init'])).toMatchObject({ status: 0 });
});

it.each([
  ['db', 'export', '--file', 'export-of-relay'],
  ['keys', 'export-stock', '--yes', '--to', 'stock'],
])('%s %s creates the file at a relative path, under any name', async (...argv) => {
  const relay = programs['waxwing-relay'] as Program;
  expect(await typed(relay, argv)).toMatchObject({ status: 0 });
  expect(existsSync(join(folder, argv.at(-1) ?? ''))).toBe(true);
});

it('waxwing-relay prints an unknown command if it consists of ordinary words and numbers', async () => {
  const relay = programs['waxwing-relay'] as Program;
  for (const word of ['organization-settings-2026', 'Organization-Settings', 'rotate_signing_keys_of_2026']) {
    expect((await typed(relay, [word])).said).toContain(word);
  }
});

describe.each(Object.entries(programs))('%s', (_name, program) => {
  it('prints no secret that is given as an option or argument by mistake', async () => {
    const commands = await slotsOf(program);
    const shown: string[] = [];
    let tried = 0;
    for (const [path, slots] of commands) {
      for (const at of [...slots, { option: '--env-file', kind: 'path' }]) {
        for (const [name, [secret, hidden]] of Object.entries(secrets)) {
          if (texts.includes(at.kind) && !inNoText.includes(name)) continue;
          const { said } = await typed(program, argumentsWith(path, [...slots, at], at, secret));
          tried += 1;
          if (said.includes(hidden))
            shown.push(`${path.join(' ')} ${at.option ?? at.kind}, ${name}: ${said}`);
        }
      }
    }
    expect(shown).toEqual([]);
    expect(tried).toBeGreaterThan(50);
  });

  it('prints no secret that is given in place of a command', async () => {
    for (const [secret, hidden] of Object.values(secrets)) {
      for (const argv of [
        [secret],
        ['queue', secret],
        [`--${secret}`],
        [`--env-file=${secret}`, 'db', 'status'],
      ]) {
        const { status, said } = await typed(program, argv);
        expect(status).toBeGreaterThan(0);
        expect(said).not.toContain(hidden);
      }
    }
  });

  it.each(settingsOf(program))('prints no secret that is given as %s by mistake', async (setting) => {
    for (const [name, [secret, hidden]] of Object.entries(secrets)) {
      if (setting.endsWith('_NAME') && !inNoText.includes(name)) continue;
      const given = { ...program, environment: { ...program.environment, [setting]: secret } };
      for (const argv of program.reading) {
        const { said } = await typed(given, argv);
        expect(said, `${name}, ${argv.join(' ')}`).not.toContain(hidden);
      }
    }
  });
});

describe.each(['apps/relay', 'apps/server', 'packages/server-push', 'apps/vendors', 'apps/quickstart'])(
  'the program in %s',
  (place) => {
    const path = join(root, place, 'bin', `waxwing-${place.split('/')[1]}.js`);
    const options = place.endsWith('vendors')
      ? ['--data-dir', '--host', '--port-base']
      : place.endsWith('quickstart')
        ? ['--data-dir', '--port-base']
        : ['--env-file'];

    it.each(options)(
      'prints no secret that is given as %s, even if Node parses the option',
      async (option) => {
        for (const name of ['an age identity', 'a passphrase', 'a URL with a password']) {
          const [secret, hidden] = secrets[name] ?? ['', ''];
          for (const given of [[option, secret], [`${option}=${secret}`]]) {
            const argv = option === '--env-file' ? ['db', 'status', ...given] : given;
            const ran = await promisify(execFile)(path, argv, { cwd: folder }).catch(
              (error: { stdout: string; stderr: string }) => error,
            );
            expect(ran.stderr).not.toBe('');
            expect(`${ran.stdout}${ran.stderr}`).not.toContain(hidden);
          }
        }
      },
    );
  },
);
