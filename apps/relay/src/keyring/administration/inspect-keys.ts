import { keyListFields, verifyKeyList } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { noParameters, operation } from '@waxwing/service/http';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { z } from 'zod';
import { operator } from '../../admin-socket/operator.js';
import { followedAheadMilliseconds } from '../clock/ring-clock.js';
import { currentSigningKey, openingKeys, type PublishedKeyList, primaryKey } from '../ring/key-ring.js';
import type { KeyAdmin } from './key-admin.js';

/** Returns the public keys that an app is built with, and the published key list. */
export const exportPublic = operation({
  method: 'GET',
  path: '/admin/api/keys/public',
  summary: 'Returns the public keys that apps are built with, and the published key list.',
  actor: operator,
  parameters: noParameters,
  answer: z.object({
    bouncer_public_key: z.string(),
    signing_public_key: z.string(),
    recovery_public_key: z.string().nullable(),
    key_list: keyListFields.optional(),
  }),
  codes: ['BAD_REQUEST'],
  handle: (admin: KeyAdmin) =>
    admin.keeper.look((ring) => ({
      bouncer_public_key: primaryKey(ring).publicKey,
      signing_public_key: currentSigningKey(ring).publicKey,
      recovery_public_key: ring.recoveryPublicKey ?? null,
      ...(ring.published === undefined ? {} : { key_list: fieldsOf(ring.published) }),
    })),
});

/** Opens the ring, checks every key pair, and verifies the published list as a phone does. */
export const verifyRing = operation({
  method: 'GET',
  path: '/admin/api/keys/verify',
  summary: 'Checks every key of the key ring and verifies the published key list as a phone does.',
  actor: operator,
  parameters: noParameters,
  answer: z.object({
    sound: z.literal(true),
    location: z.string(),
    opening_keys: z.number().int(),
    sequence: z.number().int(),
  }),
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin) {
    // `look` has already wiped the ring's private halves; the code below reads only public halves.
    const ring = await admin.keeper.look((found) => found);
    const { sodium, clock, keeper } = admin;
    keeper.requireClockOf(ring);
    if (ring.published === undefined)
      throw new CommandError('No key list has been signed yet: start the relay once.');
    const verdict = verifyKeyList(
      { result: 'success', ...fieldsOf(ring.published) },
      {
        verify: (signature, message, publicKey) => sodium.verifyDetached(signature, message, publicKey),
        signingPublicKey: currentSigningKey(ring).publicKey,
        recoveryPublicKey: ring.recoveryPublicKey,
        revokedKeys: new Set(),
        lastSequence: 0,
        nowSeconds: unixSeconds(clock()),
        clockLagSeconds: unixSeconds(followedAheadMilliseconds),
      },
    );
    if (verdict.kind === 'refused') {
      throw new CommandError(
        `The ring is sound, but phones would refuse its key list (${verdict.reason}): start the relay, which signs it again, and check this machine's clock.`,
      );
    }
    const opening = openingKeys(ring, clock()).length;
    return {
      sound: true as const,
      location: keeper.options.store.location,
      opening_keys: opening,
      sequence: verdict.list.sequence,
    };
  },
});

/** Returns the three fields of the published list that phones receive. */
function fieldsOf({ keyList, signature, signingPublicKey }: PublishedKeyList): z.infer<typeof keyListFields> {
  return { key_list: keyList, signature, signing_public_key: signingPublicKey };
}
