import { Secret } from '@waxwing/service/config';
import { z } from 'zod';
import type { RealmPushStatus } from './realm-push-status.js';

/** The data that a server sends to register with a relay. */
export interface ServerRegistration {
  /** Host name, with a port if it is not 443. */
  readonly hostname: string;
  readonly contactEmail: string;
  /** An invitation code, if the relay requires one. */
  readonly invitation?: Secret<string> | undefined;
  /** A new key to replace the key that authenticates the request. */
  readonly newKey?: Secret<string> | undefined;
  /** Lets a server return after it has deactivated itself. Stock relays ignore this field. */
  readonly reactivate?: boolean;
}

export const joinAnswer = z.object({ created: z.boolean() });
export const transferAnswer = z
  .object({ verification_secret: z.string().min(1).max(4096) })
  .transform((answer) => new Secret(answer.verification_secret));
export const verifiedAnswer = z
  .object({ zulip_org_id: z.uuid(), zulip_org_key: z.string().min(1).max(1000) })
  .transform((answer) => ({
    serverId: answer.zulip_org_id,
    serverKey: new Secret(answer.zulip_org_key),
  }));
export const deactivateAnswer = z.object({});
/** The push status of each reported organization; `undefined` for a status in an unknown format. */
export const analyticsAnswer = z.object({
  realms: z.record(
    z.string(),
    z
      .object({ can_push: z.boolean(), expected_end_timestamp: z.number().int().nullish() })
      .transform((status): RealmPushStatus => {
        const { can_push: canPush, expected_end_timestamp: endTimestamp = null } = status;
        return { canPush, endTimestamp };
      })
      .optional()
      .catch(undefined),
  ),
});

/** Builds the form that registers a server. */
export function encodeRegistration(
  { serverId, serverKey }: { readonly serverId: string; readonly serverKey: Secret<string> },
  { hostname, contactEmail, invitation, newKey, reactivate }: ServerRegistration,
): Record<string, string> {
  return {
    zulip_org_id: serverId,
    zulip_org_key: serverKey.reveal(),
    hostname,
    contact_email: contactEmail,
    ...(invitation && { invitation: invitation.reveal() }),
    ...(newKey && { new_org_key: newKey.reveal() }),
    ...(reactivate && { reactivate: 'true' }),
  };
}
