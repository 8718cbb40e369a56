import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { adminNames } from '#server/push/admin-names.js';
import { readRelayKey } from '#server-push/settings/read-relay-key.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-relay-key-'));
afterAll(() => rmSync(dir, { recursive: true }));
const key = '5d3e84ff'.repeat(8);

async function read(content: string | Buffer): Promise<string> {
  const serverKeyFile = join(dir, 'key');
  writeFileSync(serverKeyFile, content, { mode: 0o600 });
  const account = await readRelayKey(
    {
      kind: 'configured',
      url: 'https://relay.example',
      serverId: 'x',
      serverKeyFile,
    },
    adminNames,
  );
  return account.kind === 'configured' ? account.serverKey.reveal() : '';
}

describe('the key file of the server’s relay account', () => {
  it.each([
    key,
    `${key}\n`,
    `\ufeff${key}\r\n`,
    Buffer.from(`\ufeff${key}\r\n`, 'utf16le'),
    `"${key}"\n`,
    `server key  ${key}\n`,
    `server id   9aa61d0b-8ce5-488d-8e9e-fedc346e6836\nserver key  ${key}\n`,
    `zulip_org_key = ${key}\n`,
    `SERVER_KEY='${key}'`,
    `# of the relay\n\n${key}\n\n`,
  ])('can contain more than the key: %j', async (content) => {
    expect(await read(content)).toBe(key);
  });

  it('can contain the key of another relay, in a different format', async () => {
    expect(await read('A-key/of+another_relay=\n')).toBe('A-key/of+another_relay=');
  });

  it.each([
    '',
    '\n\n',
    '{"type":"service_account"}',
    '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n',
    'SERVER_RELAY_URL=https://relay.example\nSERVER_RELAY_SERVER_ID=x\n',
    `${key}\n${key.replaceAll('5', '6')}\n`,
    `${key}0`.repeat(2),
  ])('is refused without a key or with two keys, and its content is not shown: %j', async (content) => {
    const refused = read(content);
    await expect(refused).rejects.toThrow(
      'contains no key: write only the key into it, as printed by waxwing-relay servers add',
    );
    if (content.trim() !== '') await expect(refused).rejects.not.toThrow(content.slice(0, 20));
  });
});
