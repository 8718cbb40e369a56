import { CommandError } from '@waxwing/service/command-line';
import { z } from 'zod';
import { newSigningKey, newTokenKey } from '../new-key-ring.js';
import { recoverSigningKey, rotateSigningKey } from '../publish-key-list.js';

import { tokenKeyNoticeMilliseconds } from '../ring-clock.js';
import { adminCommand, changeRing } from './key-admin.js';

const dryRun = z.boolean();

/** Replaces the key that signs the key list; `recoveryPrivateKey` (base64) endorses the new one after a theft. */
export const replaceSigningKey = adminCommand({
  arguments: z.strictObject({ recoveryPrivateKey: z.string().nullable(), dryRun }),
  run: (request, { recoveryPrivateKey, dryRun }) => {
    const { sodium, clock } = request.admin;
    const next = newSigningKey(sodium, clock());
    return changeRing(request, {
      action: recoveryPrivateKey === null ? 'rotate-signing-key' : 'rotate-signing-key --recovery-key',
      dryRun,
      transition: (ring) => {
        if (recoveryPrivateKey === null) return rotateSigningKey(ring, next, sodium);
        const secret = Buffer.alloc(64);
        secret.write(recoveryPrivateKey, 'base64');
        // libsodium keeps the public key in the last 32 of the 64 bytes.
        const publicKey = Buffer.from(secret.subarray(32)).toString('base64');
        if (
          Buffer.byteLength(recoveryPrivateKey, 'base64') !== secret.length ||
          publicKey !== ring.recoveryPublicKey
        ) {
          throw new CommandError(
            'The file does not hold the recovery key of this ring: "keys export-public" shows its public half.',
          );
        }
        try {
          return recoverSigningKey(ring, { next, recoveryPrivateKey: secret }, sodium);
        } finally {
          sodium.wipe(secret);
        }
      },
    });
  },
});

/** Adds a key for tokens at rest; rows are encrypted again with it, and the older keys are destroyed after the last one. */
export const rotateTokenKey = adminCommand({
  arguments: z.strictObject({ dryRun }),
  run: (request, { dryRun }) => {
    const { sodium, clock } = request.admin;
    const next = newTokenKey(sodium, clock() + tokenKeyNoticeMilliseconds);
    return changeRing(request, {
      action: 'rotate-token-key',
      dryRun,
      transition: (ring) => ({ ...ring, tokenKeys: [...ring.tokenKeys, next] }),
    });
  },
});
