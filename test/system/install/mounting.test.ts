import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation, type Delivery } from '../../support/constellation.js';
import { freePort } from '../../support/free-ports.js';
import { runJsonCommand } from '../../support/spawned-process.js';
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
/** Versions to test of the packages that the page names without versions. */
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

it('docs/mounting.md contains each example verbatim, in at most fifty lines', () => {
  const shown = [...page.matchAll(/<!-- the text of (\S+) -->\n```js\n(.*?)^```$/gms)];
  expect(shown.map(([, name]) => name)).toEqual(hosts.map(({ name }) => `examples/mounting/${name}.mjs`));
  for (const [, name = '', text] of shown) {
    expect(text, name).toBe(readFileSync(join(root, 'docs', name), 'utf8'));
    expect(text?.trimEnd().split('\n').length, name).toBeLessThanOrEqual(50);
  }
});

/** A program that runs in the empty directory, and its output. */
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

  /** Resolves to the first match in the output. @throws Error with all output if the program ends first. */
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

  /** Stops the program like a service manager. Resolves to the exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    this.#child.kill('SIGTERM');
    const [code] = await once(this.#child, 'close');
    return code as number | null;
  }
}

eachPostgres((postgres) => {
  describe('a non-Waxwing server with the packed push packages', () => {
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

    /** Runs a command of the installed program, as the host's admin does. */
    async function command(settings: Readonly<Record<string, string>>, ...args: string[]) {
      const program = join(app, 'node_modules/.bin/waxwing-server-push');
      const child = spawn(program, args, { cwd: app, env: { PATH: process.env.PATH, ...settings } });
      // Waits asynchronously, because the vendors' stand-ins run in this process.
      const [printed, said, [code]] = await Promise.all([
        readText(child.stdout),
        readText(child.stderr),
        once(child, 'close'),
      ]);
      return { code: code as number, printed, said };
    }

    it.each(hosts)(
      'joins the relay while it runs, registers a phone, and sends it a payload: $name',
      async ({ name, file, request, payload }) => {
        const port = await freePort(1);
        const url = `http://127.0.0.1:${port}`;
        const settings = {
          SERVER_PUSH_DATABASE: file === undefined ? await postgres.freshUrl() : `sqlite:${file}`,
          SERVER_PUSH_KEY_FILE: `${name}.key`,
          SERVER_PUSH_REALM_UUID: randomUUID(),
          SERVER_PUSH_REALM_URL: url,
          SERVER_PUSH_REALM_NAME: name,
        };
        const host = new Program(app, `${name}.mjs`, { PORT: String(port), ...settings });
        let phone: Program | undefined;
        try {
          await host.printed(/(listening)/);
          const { invitation } = await runJsonCommand<{ invitation: string }>(
            'waxwing-relay',
            ['servers', 'invite'],
            { env: constellation.relayEnv },
          );
          const joining = ['--relay', constellation.relayUrl, '--invitation', invitation];
          const enabled = await command(settings, 'enable', ...joining, '--contact', 'ada@chat.example.net');
          expect(enabled, enabled.said).toMatchObject({ code: 0 });
          expect(enabled.printed).toContain('run waxwing-server-push test --user USER');
          await expect.poll(() => refusal(url), { timeout: 15_000 }).toBe('BAD_REQUEST');
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
          // Shows that an operator can manage jobs while the host runs.
          const queue = await command(settings, 'queue', 'list', '--state', 'dead', '--json');
          expect(JSON.parse(queue.printed)).toEqual({ jobs: [] });
          expect(await command(settings, 'test', '--user', '1')).toMatchObject({
            code: 0,
            printed: '1 sent.\n',
          });
          const status = await command(settings, 'status');
          expect(status.code, status.printed).toBe(0);
          // The host still handles all requests that are not about push, including errors.
          expect((await fetch(`${url}/nothing`)).status).toBe(404);
          expect((await fetch(`${url}/api/v1/events`)).status).toBe(401);
          expect((await command(settings, 'disable', '--yes')).code).toBe(0);
          await expect.poll(() => refusal(url), { timeout: 15_000 }).toBe('PUSH_SERVICE_NOT_CONFIGURED');
          const disabled = await command(settings, 'status');
          expect(disabled.code).toBe(1);
          expect(disabled.printed).toContain('Run waxwing-server-push enable --relay');
        } finally {
          phone?.end('{}');
          expect(await host.stop(), host.output).toBe(0);
        }
      },
    );
  });
});

/** The host's error code for a request about an unknown device's key. */
async function refusal(url: string): Promise<unknown> {
  const response = await fetch(`${url}/api/v1/mobile_push/register`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('ada@example.com:the-key-of-ada')}` },
    body: new URLSearchParams({ device_id: '1', push_key_id: '1', push_key: '{}' }),
  });
  return ((await response.json()) as { code: unknown }).code;
}
