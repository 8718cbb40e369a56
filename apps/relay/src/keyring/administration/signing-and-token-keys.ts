import { CommandError } from '@waxwing/service/command-line';
import { operation } from '@waxwing/service/http';
import type { Sodium } from '@waxwing/sodium';
import { z } from 'zod';
import { operator } from '../../admin-socket/operator.js';
import { tokenKeyNoticeMilliseconds } from '../clock/ring-clock.js';
import { recoverSigningKey, rotateSigningKey } from '../list/publish-key-list.js';
import type { KeyRing, SigningKey } from '../ring/key-ring.js';
import { newSigningKey, newTokenKey } from '../ring/new-key-ring.js';
import { changeAnswer, changeRing, dryRunParameter, type KeyAdmin, secretParameter } from './key-admin.js';

/** Replaces the key that signs the key list. After a theft, the recovery key (base64) endorses the new key. */
export const replaceSigningKey = operation({
  method: 'POST',
  path: '/admin/api/keys/rotate-signing-key',
  summary: 'Replaces the key that signs the key list, endorsed by the old key or the recovery key.',
  actor: operator,
  parameters: z.object({ recovery_private_key: secretParameter.optional(), dry_run: dryRunParameter }),
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters }) {
    const { recovery_private_key: recoveryPrivateKey, dry_run: dryRun } = parameters;
    const { sodium, clock } = admin;
    const next = newSigningKey(sodium, clock());
    const action =
      recoveryPrivateKey === undefined ? 'rotate-signing-key' : 'rotate-signing-key --recovery-key';
    return changeRing(admin, {
      actor,
      action,
      dryRun,
      makesKeys: true,
      transition: (ring) =>
        recoveryPrivateKey === undefined
          ? rotateSigningKey(ring, next, sodium)
          : recoverFrom(ring, { next, recoveryPrivateKey: recoveryPrivateKey.reveal() }, sodium),
    });
  },
});

function recoverFrom(
  ring: KeyRing,
  { next, recoveryPrivateKey }: { readonly next: SigningKey; readonly recoveryPrivateKey: string },
  sodium: Sodium,
): KeyRing {
  const secret = Buffer.alloc(64);
  secret.write(recoveryPrivateKey, 'base64');
  // libsodium stores the public key in the last 32 of the 64 bytes.
  const publicKey = Buffer.from(secret.subarray(32)).toString('base64');
  if (
    Buffer.byteLength(recoveryPrivateKey, 'base64') !== secret.length ||
    publicKey !== ring.recoveryPublicKey
  ) {
    throw new CommandError(
      'The file does not contain the recovery key of this ring: "keys export-public" shows its public half.',
    );
  }
  try {
    return recoverSigningKey(ring, { next, recoveryPrivateKey: secret }, sodium);
  } finally {
    sodium.wipe(secret);
  }
}

/** Adds a key that encrypts tokens at rest. The relay re-encrypts all rows with this key, then destroys the older keys. */
export const rotateTokenKey = operation({
  method: 'POST',
  path: '/admin/api/keys/rotate-token-key',
  summary: 'Re-encrypts the push tokens in the database with a new key, row by row.',
  actor: operator,
  parameters: z.object({ dry_run: dryRunParameter }),
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters }) {
    const { sodium, clock } = admin;
    const next = newTokenKey(sodium, clock() + tokenKeyNoticeMilliseconds);
    const transition = (ring: KeyRing) => ({ ...ring, tokenKeys: [...ring.tokenKeys, next] });
    const { dry_run: dryRun } = parameters;
    return changeRing(admin, { actor, action: 'rotate-token-key', dryRun, makesKeys: true, transition });
  },
});
