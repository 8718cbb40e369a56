import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type KeyTerminal, keysOf, keyTerminal, terminalWithRing } from './key-terminal.js';
import { sodium } from './ring-material.js';

describe('keys import and export-stock', () => {
  const exampleFile = join(import.meta.dirname, '../../../../keys.example');

  function plainFile(terminal: KeyTerminal, count: number): { file: string; pairs: Record<string, string> } {
    const pairs = Array.from({ length: count }, () => {
      const { publicKey, privateKey } = sodium.generateKeyPair();
      return [Buffer.from(publicKey).toString('base64'), Buffer.from(privateKey).toString('base64')];
    });
    const file = join(terminal.folder, 'stock.json');
    writeFileSync(file, JSON.stringify(Object.fromEntries(pairs)), { mode: 0o600 });
    return { file, pairs: Object.fromEntries(pairs) as Record<string, string> };
  }

  it('import the key map of a stock relay and export it again', async () => {
    const terminal = await terminalWithRing();
    const { file, pairs } = plainFile(terminal, 3);
    expect(await terminal.json('import', file)).toMatchObject({ changed: true });
    expect((await keysOf(terminal)).filter(({ state }) => state === 'accepted')).toHaveLength(3);
    const to = join(terminal.folder, 'out.json');
    expect((await terminal.run('export-stock', '--to', to)).error).toContain('add --yes');
    expect(await terminal.json('export-stock', '--to', to, '--dry-run')).toMatchObject({ dry_run: true });
    expect(existsSync(to)).toBe(false);
    await terminal.json('export-stock', '--to', to, '--yes');
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(to, 'utf8'))).toMatchObject(pairs);
    expect((await terminal.run('export-stock', '--to', to, '--yes')).error).toContain('already exists');
  });

  it('create a ring from a file if there is no ring and the primary key is known', async () => {
    const terminal = keyTerminal();
    const { file, pairs } = plainFile(terminal, 2);
    const [, newest = ''] = Object.keys(pairs);
    expect((await terminal.run('import', file)).error).toContain('--primary <public-key>');
    expect((await terminal.run('import', file, '--primary', newest)).error).toBeUndefined();
    const primary = (await keysOf(terminal)).find(({ state }) => state === 'primary');
    expect(primary?.public_key).toBe(newest);
  });

  it('read the format of keys.example, with states and dates', async () => {
    const terminal = keyTerminal();
    const example = JSON.parse(readFileSync(exampleFile, 'utf8'));
    for (const key of example.keys) {
      const pair = sodium.generateKeyPair();
      key.public_key = Buffer.from(pair.publicKey).toString('base64');
      key.private_key = Buffer.from(pair.privateKey).toString('base64');
    }
    const file = join(terminal.folder, 'plain.json');
    writeFileSync(file, JSON.stringify(example), { mode: 0o600 });
    expect((await terminal.run('import', file)).error).toBeUndefined();
    expect(await keysOf(terminal)).toMatchObject(
      example.keys.map((key: { public_key: string; state: string }) => ({
        public_key: key.public_key,
        state: key.state,
      })),
    );
    expect((await keysOf(terminal))[0]).toMatchObject({
      created_at: '2025-06-01T00:00:00.000Z',
      accepted_until: '2026-10-06T00:00:00.000Z',
    });
  });

  it('reject the keys of keys.example', async () => {
    const terminal = keyTerminal();
    const file = join(terminal.folder, 'keys.example');
    writeFileSync(file, readFileSync(exampleFile), { mode: 0o600 });
    expect((await terminal.run('import', file)).error).toContain(
      'is from keys.example, so its private half is public',
    );
    expect((await terminal.run('list')).error).toContain('There is no key ring');
  });

  it.each([
    ['rubbish', 'The file is not JSON'],
    ['[]', 'not a JSON object'],
    ['{}', 'The file contains no key'],
    ['{"keys":[],"version":1}', 'at least one key'],
    [`{"${'A'.repeat(43)}=":"secret-looking"}`, 'must be 32 bytes'],
  ])('reject %s without quoting it', async (text, sentence) => {
    const terminal = await terminalWithRing();
    const file = join(terminal.folder, 'plain.json');
    writeFileSync(file, text, { mode: 0o600 });
    const { error } = await terminal.run('import', file);
    expect(error).toContain(sentence);
    expect(error).not.toContain('secret-looking');
  });

  it('reject a mismatched key pair, and a key that is retired in the ring', async () => {
    const terminal = await terminalWithRing();
    const { file, pairs } = plainFile(terminal, 2);
    const [one = '', two = ''] = Object.keys(pairs);
    writeFileSync(file, JSON.stringify({ [one]: pairs[two] }));
    expect((await terminal.run('import', file)).error).toContain('does not belong to its private key');
    writeFileSync(file, JSON.stringify(pairs));
    await terminal.run('import', file);
    await terminal.run('retire', one, '--yes');
    expect((await terminal.run('import', file)).error).toContain('is retired in this ring and cannot return');
  });
});
