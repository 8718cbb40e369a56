import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation, type Delivery } from '../../support/constellation.js';
import { freePort } from '../../support/free-ports.js';
import { eachPostgres } from '../../support/test-databases.js';
import { root } from './installation.js';

const page = readFileSync(join(root, 'docs/mounting.md'), 'utf8');
const examples = join(root, 'docs/examples/mounting');
const packages = [
  'administration',
  'client',
  'jobs',
  'protocol',
  'server-push',
  'service',
  'sodium',
  'storage',
];
/** The page names them, and no version: these are what it was tried with. */
const others = ['express@5.3.0', 'fastify@5.12.8', 'pg@8.23.1'];
const hosts = [
  {
    name: 'express',
    file: undefined,
    request: { path: '/transfers', body: { cents: 1250 } },
    payload: { title: 'Transfer', body: '12.5 EUR have arrived' },
  },
  {
    name: 'fastify',
    file: 'calendar.sqlite',
    request: { path: '/entries', body: { title: 'Dentist' } },
    payload: { title: 'Dentist', body: 'Today' },
  },
  {
    name: 'node-http',
    file: 'game.sqlite',
    request: { path: '/moves', body: {} },
    payload: { title: 'Game 7', body: 'It is your turn', game: 7 },
  },
] as const;

it('docs/mounting.md shows each example to the letter', () => {
  const shown = [...page.matchAll(/<!-- the text of (\S+) -->\n```js\n(.*?)^```$/gms)];
  expect(shown.map(([, name]) => name)).toEqual(hosts.map(({ name }) => `examples/mounting/${name}.mjs`));
  for (const [, name = '', text] of shown) {
    expect(text, name).toBe(readFileSync(join(root, 'docs', name), 'utf8'));
  }
});

/** A program of the empty directory, and what it has printed. */
class Program {
  readonly #child: ReturnType<typeof spawn>;
  output = '';

  constructor(dir: string, file: string, env: Readonly<Record<string, string>>) {
    const { PATH = '' } = process.env;
    this.#child = spawn(process.execPath, [file], { cwd: dir, env: { PATH, ...env }, stdio: 'pipe' });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString('utf8');
      });
    }
  }

  /** Resolves to the first match in the output. @throws with all of it when the program ends before. */
  async printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const [, found] = pattern.exec(this.output) ?? [];
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null) throw new Error(`it has ended:\n${this.output}`);
      await Promise.race([once(this.#child, 'close'), once(this.#child.stdout as never, 'data')]);
    }
  }

  end(input: string): void {
    this.#child.stdin?.end(input);
  }

  /** Ends it as a service manager does. Resolves to its exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    this.#child.kill('SIGTERM');
    const [code] = await once(this.#child, 'close');
    return code as number | null;
  }
}

eachPostgres((postgres) => {
  describe('A server of another kind, from packed tarballs in an empty directory', () => {
    const dir = mkdtempSync(join(tmpdir(), 'waxwing-mounting-'));
    const app = join(dir, 'app');
    let constellation: Constellation;

    beforeAll(async () => {
      const npm = (args: readonly string[], cwd: string) =>
        execFileSync('npm', args, {
          cwd,
          stdio: 'pipe',
          env: { ...process.env, npm_config_prefer_offline: 'true' },
        });
      mkdirSync(app);
      npm(
        ['pack', ...packages.map((name) => `--workspace=packages/${name}`), '--pack-destination', dir],
        root,
      );
      npm(['init', '--yes'], app);
      const tarballs = readdirSync(dir).filter((name) => name.endsWith('.tgz'));
      const all = [...tarballs.map((name) => join(dir, name)), ...others];
      npm(['install', '--no-audit', '--no-fund', ...all], app);
      for (const { name } of hosts) copyFileSync(join(examples, `${name}.mjs`), join(app, `${name}.mjs`));
      copyFileSync(join(import.meta.dirname, 'phone.mjs'), join(app, 'phone.mjs'));
      constellation = await Constellation.create();
      await constellation.startRelay();
    }, 400_000);
    afterAll(async () => {
      await constellation?.close();
      rmSync(dir, { recursive: true, force: true });
    });

    it.each(hosts)(
      'that is on $name registers a phone, and sends it a payload',
      async ({ name, file, request, payload }) => {
        const port = await freePort(1);
        const url = `http://127.0.0.1:${port}`;
        const databaseUrl = await postgres.freshUrl();
        const { SERVER_RELAY_SERVER_ID = '', SERVER_RELAY_SERVER_KEY_FILE = '' } = constellation.serverEnv;
        const host = new Program(app, `${name}.mjs`, {
          PORT: String(port),
          PUBLIC_URL: url,
          DATABASE_URL: databaseUrl,
          REALM_UUID: constellation.realmUuid,
          RELAY_URL: constellation.relayUrl,
          RELAY_SERVER_ID: SERVER_RELAY_SERVER_ID,
          RELAY_SERVER_KEY: readFileSync(SERVER_RELAY_SERVER_KEY_FILE, 'utf8').trim(),
        });
        let phone: Program | undefined;
        try {
          await host.printed(/(listening) at/);
          const token = `token-at-${name}`;
          const account = { realmUrl: url, userId: 1, email: 'ada@example.com', apiKey: 'the-key-of-ada' };
          const options = { bouncerPublicKey: constellation.bouncerPublicKey, token, account };
          phone = new Program(app, 'phone.mjs', { OPTIONS: JSON.stringify(options) });
          expect(await phone.printed(/^registered (\S+)/m), phone.output).toBe('active');
          const headers = { 'content-type': 'application/json' };
          const body = JSON.stringify(request.body);
          expect((await fetch(`${url}${request.path}`, { method: 'POST', headers, body })).status).toBe(204);
          const [{ body: delivered }] = (await constellation.deliveriesTo(token)) as [Delivery];
          const { message } = delivered as { message: { data: Record<string, string> } };
          phone.end(JSON.stringify(message.data));
          const opened = JSON.parse(await phone.printed(/^opened (.*)$/m));
          expect(opened).toMatchObject({ kind: 'notification', notification: { type: 'payload', payload } });
          // An operator looks after the jobs while the server runs.
          const SERVER_PUSH_DATABASE = file === undefined ? databaseUrl : `sqlite:${file}`;
          const command = (...args: string[]) =>
            JSON.parse(
              execFileSync(join(app, 'node_modules/.bin/waxwing-server-push'), [...args, '--json'], {
                cwd: app,
                encoding: 'utf8',
                env: { ...process.env, SERVER_PUSH_DATABASE },
              }),
            );
          expect(command('db', 'status')).toMatchObject({ pending: [], newer: [] });
          expect(command('queue', 'list', '--state', 'dead')).toEqual({ jobs: [] });
          // What is not push's is the host's own, also an error.
          expect((await fetch(`${url}/nothing`)).status).toBe(404);
          expect((await fetch(`${url}/api/v1/events`)).status).toBe(401);
        } finally {
          phone?.end('{}');
          expect(await host.stop(), host.output).toBe(0);
        }
      },
    );
  });
});
