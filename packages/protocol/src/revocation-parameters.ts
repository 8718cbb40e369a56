import { z } from 'zod';

/**
 * Form parameters of `POST /mobile_push/revoke` and of `POST /remotes/push/e2ee/revoke`
 * (docs/protocol.md#sealed-revocation). Checks only presence; the relay validates the values.
 */
export const revocationParameters = z.object({
  encrypted_push_revocation: z.string(),
  bouncer_public_key: z.string(),
});

/** A sealed revocation in its wire format. */
export type SealedRevocationOnWire = z.output<typeof revocationParameters>;

/** The relay's response. It is the same even if the relay knows no such registration. */
export const relayRevokeAnswer = z.object({});
