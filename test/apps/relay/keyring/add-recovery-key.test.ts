import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type KeyListAnswer, parseKeyListAnswer, verifyKeyList } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { describe, expect, it, vi } from 'vitest';
import { KeyRingKeeper } from '#relay/keyring/live/key-ring-keeper.js';
import { verifyDetached } from '../../../support/noble-oracle.js';
import { keyTerminal, ringOf } from './key-terminal.js';

describe('a ring that was created without a recovery key', () => {
  it('causes a warning, unlike a ring with a recovery key', async () => {
    const bare = await keyTerminal().run('init');
    expect(bare.said).toMatch(/no recovery key: .*keys add-recovery-key FILE/);
    const terminal = keyTerminal();
    const whole = await terminal.run('init', '--recovery-key', join(terminal.folder, 'recovery'));
    expect(whole.said).not.toContain('no recovery key');
  });

  it('can get a recovery key later, which replaces the signing key after a theft', async () => {
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

  it('publishes an added recovery key immediately in the signed key list, for phones that pin none', async () => {
    const terminal = keyTerminal();
    await terminal.json('init');
    const listed = async () => {
      const answer = parseKeyListAnswer({
        result: 'success',
        ...((await terminal.json('export-public')).key_list as object),
      });
      const verdict = verifyKeyList(answer as KeyListAnswer, {
        verify: verifyDetached,
        signingPublicKey: answer?.signing_public_key ?? '',
        recoveryPublicKey: undefined,
        revokedKeys: new Set(),
        lastSequence: 0,
        nowSeconds: terminal.now / 1000,
      });
      return verdict.kind === 'verified' ? verdict.list.recovery_public_key : verdict.reason;
    };
    expect(await listed()).toBeUndefined();
    const { recovery_public_key: publicKey } = await terminal.json(
      'add-recovery-key',
      join(terminal.folder, 'recovery'),
    );
    expect(await listed()).toBe(publicKey);
  });

  it('stays unchanged with --dry-run, which prints the change', async () => {
    const terminal = keyTerminal();
    await terminal.run('init');
    const file = join(terminal.folder, 'recovery');
    expect((await terminal.run('add-recovery-key', file, '--dry-run')).printed).toContain(file);
    expect(existsSync(file)).toBe(false);
    expect((await ringOf(terminal)).recoveryPublicKey).toBeUndefined();
  });

  it.each([
    ['keeps no key file if no key was added', false, false, new Error('The disk is full.')],
    ['keeps the file of an added key, even if a later step failed', true, true, new Error('It failed.')],
    [
      'keeps the key file if the relay disconnected, because it may still store the key',
      ...([false, true, new CommandError('It went away.', { cause: new Error('reset') })] as const),
    ],
  ])('%s', async (_, isStored, isKept, failure) => {
    const terminal = keyTerminal();
    await terminal.run('init');
    const file = join(terminal.folder, 'recovery');
    const { change } = KeyRingKeeper.prototype;
    const failing = vi.spyOn(KeyRingKeeper.prototype, 'change');
    failing.mockImplementation(async function (this: KeyRingKeeper, ...given) {
      if (isStored) await change.apply(this, given);
      throw failure;
    });
    const { error } = await terminal.run('add-recovery-key', file);
    failing.mockRestore();
    expect([error, existsSync(file)]).toEqual([expect.stringContaining(failure.message), isKept]);
    expect((await ringOf(terminal)).recoveryPublicKey !== undefined).toBe(isStored);
  });

  it('accepts no second recovery key, and no second file is created', async () => {
    const terminal = keyTerminal();
    await terminal.run('init');
    await terminal.run('add-recovery-key', join(terminal.folder, 'first'));
    const second = join(terminal.folder, 'second');
    expect((await terminal.run('add-recovery-key', second)).error).toContain(', which phones trust');
    expect(existsSync(second)).toBe(false);
  });
});
