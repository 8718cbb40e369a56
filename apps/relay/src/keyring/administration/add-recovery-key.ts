import { decodePublicKey } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import { operator } from '../../admin-socket/operator.js';
import type { KeyRing, SigningPublicKey } from '../ring/key-ring.js';
import { changeAnswer, changeRing, dryRunParameter, type KeyAdmin } from './key-admin.js';

/**
 * Adds the public half (base64) of a recovery key to a ring that has no recovery key. The relay immediately publishes
 * the key in the signed key list; the next release of the app pins it. Refuses with BAD_REQUEST if the ring already has
 * a recovery key: phones trust that key and would reject a different one.
 */
export const addRecoveryKey = operation({
  method: 'POST',
  path: '/admin/api/keys/add-recovery-key',
  summary: "Adds a recovery key's public half to a key ring that has none.",
  actor: operator,
  parameters: z.object({
    recovery_public_key: z
      .string()
      .refine((text) => decodePublicKey(text) !== undefined, 'must be base64 of 32 bytes'),
    dry_run: dryRunParameter,
  }),
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters: { recovery_public_key: publicKey, dry_run: dryRun } }) {
    return changeRing(admin, {
      actor,
      action: 'add-recovery-key',
      dryRun,
      transition: (ring) => withRecoveryKey(ring, publicKey as SigningPublicKey),
    });
  },
});

function withRecoveryKey(ring: KeyRing, recoveryPublicKey: SigningPublicKey): KeyRing {
  if (ring.recoveryPublicKey !== undefined) {
    throw new CommandError(
      'The ring already has a recovery key, which phones trust: "keys export-public" shows its public half.',
    );
  }
  return { ...ring, recoveryPublicKey };
}
