import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keyTerminal, ringOf } from './key-terminal.js';

describe('a ring that was made without a recovery key', () => {
  it('is warned of, unlike one that has it', async () => {
    const bare = await keyTerminal().run('init');
    expect(bare.said).toMatch(/no recovery key: .*keys add-recovery-key FILE/);
    const terminal = keyTerminal();
    const whole = await terminal.run('init', '--recovery-key', join(terminal.folder, 'recovery'));
    expect(whole.said).not.toContain('no recovery key');
  });

  it('gets one later, which replaces the signing key after a theft', async () => {
    const terminal = keyTerminal();
    const made = await terminal.json('init');
    const file = join(terminal.folder, 'recovery');
    const { recovery_public_key: publicKey } = await terminal.json('add-recovery-key', file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await terminal.json('export-public')).toMatchObject({ recovery_public_key: publicKey });
    await terminal.json('rotate-signing-key', '--recovery-key', file, '--yes');
    const ring = await ringOf(terminal);
    expect(ring.revokedSigningKeys).toEqual([made.signing_public_key]);
    expect(ring.signingKeys).toHaveLength(1);
  });

  it('is only told what would be done with --dry-run', async () => {
    const terminal = keyTerminal();
    await terminal.run('init');
    const file = join(terminal.folder, 'recovery');
    expect((await terminal.run('add-recovery-key', file, '--dry-run')).printed).toContain(file);
    expect(existsSync(file)).toBe(false);
    expect((await ringOf(terminal)).recoveryPublicKey).toBeUndefined();
  });

  it('gets no second one, and no file is made', async () => {
    const terminal = keyTerminal();
    await terminal.run('init');
    await terminal.run('add-recovery-key', join(terminal.folder, 'first'));
    const second = join(terminal.folder, 'second');
    expect((await terminal.run('add-recovery-key', second)).error).toContain('already, which phones trust');
    expect(existsSync(second)).toBe(false);
  });
});
