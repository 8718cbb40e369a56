import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-ports.js';

const main = fileURLToPath(new URL('../../../apps/vendors/src/main.ts', import.meta.url));

describe('waxwing-vendors', () => {
  let directory: string;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'vendors-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await rm(directory, { recursive: true });
  });

  function run(...flags: string[]) {
    const child = spawn(
      process.execPath,
      ['--conditions=@waxwing/source', '--import', 'tsx', main, ...flags],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    children.push(child);
    const output = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.err += text;
    });
    const until = async (text: string) => {
      while (!output.out.includes(text)) await once(child.stdout, 'data');
    };
    const exit = async () => {
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      return { code, signal, ...output };
    };
    return { child, until, exit: exit() };
  }

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'prints one line of JSON, and exits cleanly on %s',
    async (signal) => {
      const { child, until, exit } = run('--json', '--port-base', '0', '--data-dir', directory);
      await until('\n');
      child.kill(signal);
      const { code, out } = await exit;
      expect(code).toBe(0);
      const [line = '', ...rest] = out.split('\n');
      expect(rest).toEqual(['']);
      const { urls, credentials } = JSON.parse(line) as {
        urls: Record<string, string>;
        credentials: Record<string, string>;
      };
      expect(Object.keys(urls).sort()).toEqual(['apnsProduction', 'apnsSandbox', 'fcm', 'http', 'webPush']);
      const account = JSON.parse(await readFile(credentials.serviceAccountFile ?? '', 'utf8')) as {
        token_uri: string;
      };
      expect(account.token_uri).toBe(`${urls.http}/token`);
      await expect(fetch(`${urls.http}/stats`)).rejects.toThrow('fetch failed');
    },
  );

  it('uses four consecutive ports, and prints their URLs and the credentials', async () => {
    const base = await freePort(4);
    const { child, until, exit } = run('--port-base', String(base), '--data-dir', directory);
    await until('Ctrl-C');
    expect((await fetch(`http://127.0.0.1:${base}/deliveries`)).status).toBe(200);
    child.kill('SIGTERM');
    const { out } = await exit;
    for (const text of [
      `http://127.0.0.1:${base}\n`,
      `https://127.0.0.1:${base + 1}\n`,
      `https://127.0.0.1:${base + 2}\n`,
      `https://127.0.0.1:${base + 3}/push/phone-1\n`,
      join(directory, 'fcm-service-account.json'),
      join(directory, 'apns-ca.pem'),
      'AuthKey_',
      'key id',
      'team id',
    ]) {
      expect(out).toContain(text);
    }
  });

  it.skipIf(process.platform !== 'linux')('reports that it cannot create its folder', async () => {
    const { code, err } = await run('--port-base', '0', '--data-dir', '/proc/x/y').exit;
    expect([code, err]).toEqual([
      1,
      'waxwing-vendors: The folder /proc/x cannot be created: no folders can be created in /proc; use another location.\n',
    ]);
  });

  it('reports in one line that its data directory is a file', async () => {
    const file = join(directory, 'a-file');
    await writeFile(file, '');
    const { code, err } = await run('--port-base', '0', '--data-dir', file).exit;
    expect([code, err]).toEqual([
      1,
      `waxwing-vendors: ${file} is a file, or its path contains a file: set a folder with --data-dir\n`,
    ]);
  });

  it('reports in one line which flag to use if a port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { exit } = run('--port-base', String(port), '--data-dir', directory);
    const { code, err, out } = await exit;
    taken.close();
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toBe(
      `waxwing-vendors: port ${port} on 127.0.0.1 is in use: choose other ports with --port-base\n`,
    );
  });

  it.each([
    [['--port-base', '65534'], /must be a port from 0 to 65532/],
    [['--port-base', 'x'], /must be a port/],
    [['--port'], /there is no option --port/],
    [['extra'], /too many arguments \(1, and the maximum is 0\)/],
  ])('refuses the flags %j', async (flags, message) => {
    const { code, err } = await run(...flags).exit;
    expect(code).toBe(1);
    expect(err).toMatch(message);
  });
});
