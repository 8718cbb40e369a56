import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Terminal } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import { runRelayCommand } from '#relay/command-line.js';
import { createKeyRingKeeper } from '#relay/keyring/open-key-ring.js';
import type { KeyRing } from '#relay/keyring/ring/key-ring.js';
import { readKeyRingEnvironmentAlone } from '#relay/keyring/storage/key-ring-configuration.js';
import { openRelayDatabase } from '#relay/open-database.js';
import type { RelayDatabase } from '#relay/tables.js';
import { sodium } from './ring-material.js';

interface Ran {
  readonly printed: string;
  readonly said: string;
  /** The error message; `undefined` when the command succeeded. */
  readonly error: string | undefined;
}

export interface KeyTerminal {
  readonly folder: string;
  readonly environment: Record<string, string>;
  now: number;
  /** The operator's answer to prompts; `undefined` without a terminal. */
  answer: boolean | undefined;
  readonly asked: string[];
  /** All output of all commands. */
  readonly transcript: string[];
  run(...argv: string[]): Promise<Ran>;
  json(...argv: string[]): Promise<Record<string, unknown>>;
}

/** Creates a terminal for `keys …` commands on a new machine with an empty folder. */
export function keyTerminal(environment: Record<string, string> = {}): KeyTerminal {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-keys-'));
  const here: KeyTerminal = {
    folder,
    environment: {
      RELAY_KEY_RING: join(folder, 'ring.age'),
      RELAY_KEY_RING_IDENTITY_FILE: join(folder, 'identity'),
      RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}`,
      ...environment,
    },
    now: Date.parse('2026-03-01T00:00:00Z'),
    answer: undefined,
    asked: [],
    transcript: [],
    run: (...argv) => run(here, argv),
    async json(...argv) {
      const { printed, error } = await run(here, [...argv, '--json']);
      if (error !== undefined) throw new Error(error);
      return JSON.parse(printed) as Record<string, unknown>;
    },
  };
  return here;
}

async function run(here: KeyTerminal, argv: readonly string[]): Promise<Ran> {
  const printed: string[] = [];
  const said: string[] = [];
  const terminal: Terminal = {
    environment: here.environment,
    clock: () => here.now,
    print: (text) => void printed.push(text),
    say: (text) => void said.push(text),
    ask: async (question) => {
      here.asked.push(question);
      return here.answer;
    },
    readSecret: async () => new Secret(''),
  };
  const status = await runRelayCommand(['keys', ...argv], terminal);
  const error = status === 0 ? undefined : said.join('\n');
  here.transcript.push(...printed, ...said);
  return { printed: printed.join('\n'), said: said.join('\n'), error };
}

/** Runs `work` on the terminal's database, as a relay does. */
export async function withDatabase<T>(
  { environment, now }: KeyTerminal,
  work: (database: RelayDatabase) => Promise<T>,
): Promise<T> {
  const url = new Secret(environment.RELAY_DATABASE ?? '');
  const options = { url, role: 'visiting', clock: () => now, onJobError: () => undefined } as const;
  const database = await openRelayDatabase(options);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export interface ListedKey {
  readonly id: string;
  readonly public_key: string;
  readonly state: string;
  readonly safe_to_retire_since: string | null;
  readonly last_used_at: string | null;
  readonly registrations_per_day: readonly number[];
}

/** Returns the output of `keys list`. */
export async function keysOf(terminal: KeyTerminal): Promise<readonly ListedKey[]> {
  return (await terminal.json('list')).keys as readonly ListedKey[];
}

/** Reads the ring directly, without a command. */
export async function ringOf(terminal: KeyTerminal): Promise<KeyRing> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  return withDatabase(terminal, async (database) => {
    const keeper = createKeyRingKeeper(configuration, { sodium, clock: () => terminal.now, database });
    return (await keeper.read()).ring;
  });
}

/** Creates a terminal on a machine where `keys init` has created a ring. */
export async function terminalWithRing(): Promise<KeyTerminal> {
  const terminal = keyTerminal();
  await terminal.json('init');
  return terminal;
}
