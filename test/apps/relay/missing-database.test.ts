import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeBase64 } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import { eachBackend } from '../../support/test-databases.js';
import { runRelayCommand } from './command-line-under-test.js';
import { keyTerminal } from './keyring/key-terminal.js';
import { sodium } from './keyring/ring-material.js';

const uuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
/** Every command that needs an existing database. */
const commands = [
  `servers add --realm ${uuid}`,
  `servers add-realm ${uuid} --realm ${uuid}`,
  'servers list',
  `servers rotate-key ${uuid} --yes`,
  'servers invite',
  `servers show ${uuid}`,
  `servers rename ${uuid} name`,
  `servers suspend ${uuid} --yes`,
  `servers resume ${uuid}`,
  `servers remove ${uuid} --yes`,
  'apps status',
  'apps confirm-deletions fcm:x --yes',
  'keys list',
  'keys verify',
  'keys export-public',
  'keys rotate',
  'keys remove-unreadable --yes',
  'queue list',
  'queue show 1',
  'queue retry 1',
  'queue drop 1 --yes',
  'db export',
].map((text) => [text]);

eachBackend((backend) => {
  /** Creates a terminal with the settings of a relay that does not have a database yet. */
  async function newTerminal() {
    const url = await backend.freshUrl();
    const { folder, environment } = keyTerminal({ RELAY_DATABASE: url });
    return {
      folder,
      url,
      environment,
      path: url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined,
    };
  }

  it.each(commands)('%s refuses to create a database, and says which setting to change', async (text) => {
    const { environment, path } = await newTerminal();
    const { status, stdout, stderr } = await runRelayCommand(text.split(' '), { environment });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      path === undefined ? /^waxwing-relay: The PostgreSQL database .* is empty: / : path,
    );
    expect(stderr).toContain(
      'set RELAY_DATABASE to the database of the relay, or --env-file to the file with its settings',
    );
    if (path !== undefined) expect(existsSync(path)).toBe(false);
  });

  it.each(['db migrate', 'keys init', 'keys import FILE'])(
    '%s creates the database, and every command that writes names its database',
    async (text) => {
      const { folder, environment, url } = await newTerminal();
      const { publicKey, privateKey } = sodium.generateKeyPair();
      const file = join(folder, 'stock.json');
      const pair = { [encodeBase64(publicKey)]: encodeBase64(privateKey) };
      writeFileSync(file, JSON.stringify(pair), { mode: 0o600 });
      const run = (words: string) =>
        runRelayCommand(words.replace('FILE', file).split(' '), { environment }).then(({ stdout }) => stdout);
      const { pathname } = new URL(url);
      const place =
        backend.name === 'sqlite' ? `SQLite file ${pathname}` : `"${pathname.slice(1)}" at 127.0.0.1`;
      const named = new RegExp(`^Database: .*${place}`, 'm');
      expect(await run(text)).toMatch(named);
      expect(await run(`servers add --realm ${uuid}`)).toMatch(named);
      expect(await run('servers list')).not.toContain('Database:');
      expect(JSON.parse(await run(`servers add --realm ${uuid.replace('9', '8')} --json`))).toMatchObject({
        server_id: expect.any(String),
      });
    },
  );
});

it('an empty database file is refused', async () => {
  const { folder, environment } = keyTerminal();
  const path = join(folder, 'relay.sqlite');
  writeFileSync(path, '', { mode: 0o600 });
  const { status, stderr } = await runRelayCommand(['servers', 'list'], { environment });
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${path} is empty: set RELAY_DATABASE`)]);
});
