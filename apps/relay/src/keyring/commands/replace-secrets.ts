import { CommandError, printResult, requireConsent, type Terminal } from '@waxwing/service/command-line';
import { replaceSigningKey, rotateTokenKey } from '../administration/signing-and-token-keys.js';
import type { UnlockFile } from '../storage/key-ring-cipher.js';
import { readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';
import { actorName, withKeyAdmin } from './admin-session.js';
import { makeIdentityFile, readRecoveryKey } from './key-files.js';
import { type ChangeFlags, makeChange } from './output.js';
import type { RewrapFlags, SigningFlags } from './ring-flags.js';

/** `keys rotate-signing-key`. */
export async function rotateKeyOfList(terminal: Terminal, flags: SigningFlags): Promise<void> {
  const { recoveryKey } = flags;
  await makeChange(terminal, flags, {
    operation: replaceSigningKey,
    form: recoveryKey === undefined ? {} : { recovery_private_key: await readRecoveryKey(recoveryKey) },
    question: 'The private half of the current signing key is destroyed. Continue?',
  });
}

/** `keys rotate-token-key`. */
export function rotateKeyOfTokens(terminal: Terminal, flags: ChangeFlags): Promise<void> {
  return makeChange(terminal, flags, { operation: rotateTokenKey });
}

/** `keys rewrap`. */
export async function rewrap(terminal: Terminal, flags: RewrapFlags): Promise<void> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const unlock = newUnlockFile(flags) ?? configuration.unlock;
  const isOther = unlock.path !== configuration.unlock.path;
  const next = isOther
    ? ` Set RELAY_KEY_RING_${unlock.kind.toUpperCase()}_FILE=${unlock.path} and restart every relay of this ring: until then they keep their current ring.`
    : '';
  // Must come first: later messages show the path, and a user may have typed the passphrase itself instead of a path.
  if (isOther && unlock.kind === 'passphrase') await makeIdentityFile(unlock);
  await withKeyAdmin(terminal, configuration, async ({ keeper }) => {
    await keeper.look(() => undefined);
    const made = { changed: !flags.dryRun, dry_run: flags.dryRun ?? false, unlock_file: unlock.path };
    if (!flags.dryRun) {
      await requireConsent(terminal, `The ring will open only with ${unlock.path}. Continue?`, flags.yes);
      if (isOther) await makeIdentityFile(unlock);
      await keeper.rewrap(actorName(), unlock);
    }
    const people = flags.dryRun
      ? `This would encrypt the ring for the first ${unlock.kind} of ${unlock.path}.`
      : `The ring is encrypted for the first ${unlock.kind} of ${unlock.path}.${next}`;
    printResult(terminal, flags, { machines: made, people });
  });
}

function newUnlockFile({ toIdentityFile, toPassphraseFile }: RewrapFlags): UnlockFile | undefined {
  if (toIdentityFile !== undefined && toPassphraseFile !== undefined) {
    throw new CommandError('Use --to-identity-file or --to-passphrase-file, not both.');
  }
  if (toIdentityFile !== undefined) return { kind: 'identity', path: toIdentityFile };
  return toPassphraseFile === undefined ? undefined : { kind: 'passphrase', path: toPassphraseFile };
}
