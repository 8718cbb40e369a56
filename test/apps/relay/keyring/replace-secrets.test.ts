import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyKeyList } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { type KeyTerminal, keyTerminal, ringOf, terminalWithRing } from './key-terminal.js';
import { sodium } from './ring-material.js';

describe('the signing key', () => {
  const trust = (terminal: KeyTerminal) => ({
    verify: (signature: Uint8Array, message: Uint8Array, key: Uint8Array) =>
      sodium.verifyDetached(signature, message, key),
    lastSequence: 0,
    nowSeconds: Math.floor(terminal.now / 1000),
    revokedKeys: new Set<string>(),
  });

  async function answerOf(terminal: KeyTerminal) {
    const { key_list } = await terminal.json('export-public');
    return { result: 'success', ...(key_list as object) } as Parameters<typeof verifyKeyList>[0];
  }

  it('is trusted by a phone after any number of rotations', async () => {
    const terminal = await terminalWithRing();
    const pinned = (await terminal.json('export-public')).signing_public_key as string;
    for (let rotation = 0; rotation < 3; rotation += 1) await terminal.run('rotate-signing-key', '--yes');
    const verdict = verifyKeyList(await answerOf(terminal), {
      ...trust(terminal),
      signingPublicKey: pinned,
      recoveryPublicKey: undefined,
    });
    expect(verdict.kind).toBe('verified');
    expect((await ringOf(terminal)).signingKeys.filter(({ privateKey }) => privateKey)).toHaveLength(1);
  });

  it('is replaced and revoked after a theft, and the recovery key endorses the new key', async () => {
    const terminal = keyTerminal();
    const recovery = join(terminal.folder, 'recovery');
    const made = await terminal.json('init', '--recovery-key', recovery);
    const stolen = made.signing_public_key as string;
    await terminal.run('rotate-signing-key', '--recovery-key', recovery, '--yes');
    const follow =
      (recoveryPublicKey: string | undefined, signingPublicKey = stolen) =>
      async () =>
        verifyKeyList(await answerOf(terminal), { ...trust(terminal), signingPublicKey, recoveryPublicKey });
    const verdict = await follow(made.recovery_public_key as string)();
    expect(verdict).toMatchObject({ kind: 'verified', list: { revoked: [stolen] } });
    expect(await follow(undefined)()).toEqual({ kind: 'refused', reason: 'unknown-signing-key' });
  });

  it('is not replaced if the recovery file belongs to another ring or is invalid', async () => {
    const terminal = keyTerminal();
    await terminal.run('init', '--recovery-key', join(terminal.folder, 'recovery'));
    const other = keyTerminal();
    await other.run('init', '--recovery-key', join(other.folder, 'recovery'));
    for (const text of [readFileSync(join(other.folder, 'recovery'), 'utf8'), 'rubbish']) {
      const file = join(terminal.folder, 'other');
      writeFileSync(file, text, { mode: 0o600 });
      expect((await terminal.run('rotate-signing-key', '--recovery-key', file, '--yes')).error).toContain(
        'does not contain the recovery key of this ring',
      );
    }
  });
});

describe('a damaged recovery file', () => {
  it.each([0, 20, 31])(
    'with a changed byte %i is rejected, and the old signing key stays in use',
    async (index) => {
      const terminal = keyTerminal();
      const recovery = join(terminal.folder, 'recovery');
      await terminal.run('init', '--recovery-key', recovery);
      const bytes = Buffer.from(readFileSync(recovery, 'utf8'), 'base64');
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      writeFileSync(recovery, `${bytes.toString('base64')}\n`);
      const before = readFileSync(join(terminal.folder, 'ring.age'));
      const { error } = await terminal.run('rotate-signing-key', '--recovery-key', recovery, '--yes');
      expect(error).toContain('is damaged, so no phone would trust its signatures');
      expect(error).toContain('nothing was changed');
      expect(readFileSync(join(terminal.folder, 'ring.age'))).toEqual(before);
    },
  );

  it.each(['too long', 'too short'])('that is %s is rejected', async (damage) => {
    const terminal = keyTerminal();
    const recovery = join(terminal.folder, 'recovery');
    await terminal.run('init', '--recovery-key', recovery);
    const bytes = Buffer.from(readFileSync(recovery, 'utf8'), 'base64');
    const damaged = damage === 'too long' ? Buffer.concat([bytes, bytes]) : bytes.subarray(0, 63);
    writeFileSync(recovery, damaged.toString('base64'));
    expect((await terminal.run('rotate-signing-key', '--recovery-key', recovery, '--yes')).error).toContain(
      'does not contain the recovery key of this ring',
    );
  });
});

describe('keys rewrap', () => {
  it('changes the identity, after which the old identity no longer opens the ring', async () => {
    const terminal = await terminalWithRing();
    const identity = join(terminal.folder, 'identity');
    const old = readFileSync(identity, 'utf8');
    const other = await terminalWithRing();
    const fresh = readFileSync(join(other.folder, 'identity'), 'utf8');
    writeFileSync(identity, fresh + old);
    expect((await terminal.run('rewrap')).error).toContain('add --yes');
    expect((await terminal.run('rewrap', '--yes')).error).toBeUndefined();
    writeFileSync(identity, fresh);
    expect((await terminal.run('verify')).error).toBeUndefined();
    writeFileSync(identity, old);
    expect((await terminal.run('verify')).error).toContain('cannot be decrypted');
  });

  it('replaces an identity with a passphrase, and names the setting to change', async () => {
    const terminal = await terminalWithRing();
    const file = join(terminal.folder, 'passphrase');
    writeFileSync(file, 'long enough to be a passphrase\n', { mode: 0o600 });
    const { printed } = await terminal.run('rewrap', '--to-passphrase-file', file, '--yes');
    expect(printed).toContain(`RELAY_KEY_RING_PASSPHRASE_FILE=${file}`);
    delete terminal.environment.RELAY_KEY_RING_IDENTITY_FILE;
    terminal.environment.RELAY_KEY_RING_PASSPHRASE_FILE = file;
    expect(await terminal.json('verify')).toMatchObject({ sound: true });
  });
});
