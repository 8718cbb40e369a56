import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runServerCommand } from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

eachBackend((backend) => {
  let folder: string;
  let url: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'waxwing-check-'));
    folders.push(folder);
    url = await backend.freshUrl();
  });

  /** Runs a command with a server's settings and the additional settings in `more`. */
  async function run(words: string, more: Record<string, string> = {}) {
    const [printed, said]: [string[], string[]] = [[], []];
    const status = await runServerCommand(words.split(' '), {
      environment: { SERVER_DATABASE: url, SERVER_UPLOADS: `disk:${join(folder, 'uploads')}`, ...more },
      clock: Date.now,
      print: (text) => void printed.push(text),
      say: (text) => void said.push(text),
      ask: async () => undefined,
      readSecret: async () => new Secret(''),
    });
    return { status, stdout: printed.join('\n'), stderr: said.join('\n') };
  }

  const relay = (file: string) => ({
    SERVER_RELAY_URL: 'https://relay.example.com',
    SERVER_RELAY_SERVER_ID: '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe',
    SERVER_RELAY_SERVER_KEY_FILE: join(folder, file),
  });

  it('serve --check passes before and after the first start, and creates no database', async () => {
    const first = await run('serve --check');
    expect([first.status, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toMatch(
      /^ok {6}uploads: the folder .*\/uploads does not exist yet; the server creates it at startup$/m,
    );
    expect(first.stdout).toMatch(/^ok {6}database: (?:there is no file .* yet|the start applies )/m);
    expect(readdirSync(folder)).toEqual([]);
    if (backend.name === 'sqlite') expect(existsSync(url.slice('sqlite:'.length))).toBe(false);
    await run('db migrate');
    mkdirSync(join(folder, 'uploads'), { mode: 0o700 });
    writeFileSync(join(folder, 'key'), 'ab'.repeat(32), { mode: 0o600 });
    expect(await run('serve --check', relay('key'))).toEqual({
      status: 0,
      stdout:
        'ok      settings\nok      listening\nok      relay-key\nok      uploads\nok      database\nok      relay-account',
      stderr: '',
    });
    expect((await run('serve --check')).stdout).toMatch(/^ok {6}relay-account: none: /m);
  });

  it('serve --check names each file that cannot be used, and exits with 1', async () => {
    writeFileSync(join(folder, 'ca.pem'), 'nothing');
    writeFileSync(join(folder, 'file'), '');
    const { status, stdout, stderr } = await run('serve --check', {
      ...relay('none.key'),
      SERVER_RELAY_CA_FILE: join(folder, 'ca.pem'),
      SERVER_UPLOADS: `disk:${join(folder, 'file')}`,
    });
    expect([status, stderr]).toEqual([
      1,
      'waxwing-server: The start would fail: fix the problems listed above.',
    ]);
    expect(stdout).toMatch(/^FAILED {2}relay-key: .*none\.key .*there is no such file/m);
    expect(stdout).toMatch(
      /^FAILED {2}relay-authorities: SERVER_RELAY_CA_FILE: .* contains no PEM certificate/m,
    );
    expect(stdout).toMatch(/^FAILED {2}uploads: /m);
    const before = readdirSync(folder).sort();
    const uploads = async (place: string) => {
      const said = await run('serve --check', { SERVER_UPLOADS: `disk:${join(folder, place)}` });
      return /^.* uploads.*$/m.exec(said.stdout)?.[0];
    };
    expect(await uploads('file/uploads')).toMatch(/^FAILED {2}uploads: .* cannot be created: /);
    expect(await uploads('some/more/uploads')).toMatch(/^ok {6}uploads: the folder .* does not exist yet/);
    expect(readdirSync(folder).sort()).toEqual(before);
    mkdirSync(join(folder, 'open'), { mode: 0o755 });
    expect(await uploads('open')).toMatch(/^FAILED {2}uploads: .* has mode 0?755, which lets others use it/);
  });
});
