import { z } from 'zod';

/**
 * Form parameters of `POST /mobile_push/revoke` and of `POST /remotes/push/e2ee/revoke`
 * (docs/protocol.md#sealed-revocation). Checks presence only; the relay validates contents.
 */
export const revocationParameters = z.object({
  encrypted_push_revocation: z.string(),
  bouncer_public_key: z.string(),
});

/** A sealed revocation as it travels. */
export type SealedRevocationOnWire = z.output<typeof revocationParameters>;

/** The relay's answer; the same if it knew no such registration. */
export const relayRevokeAnswer = z.object({});
