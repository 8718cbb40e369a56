import { z } from 'zod';
import { tokenKinds } from './push-registration.js';
import { uuid } from './wire-fields.js';

/** Path of the relay's operation that reports which apps it can deliver to. Stock relays do not have this operation. */
export const relayAppsPath = '/api/v1/remotes/push/e2ee/apps';

/**
 * Reasons why the relay cannot deliver to an app.
 *
 * - `no-credentials`: the relay's operator has configured no credentials for this app
 * - `credentials-refused`: the vendor rejects the credentials
 * - `vendor-outage`: the vendor has not accepted any notification for this app for a minute or more
 */
export const relayAppTroubles = ['no-credentials', 'credentials-refused', 'vendor-outage'] as const;

/** An app that devices in the realm use. */
export const relayApp = z.object({
  vendor: z.enum(tokenKinds),
  /**
   * Bundle id of an Apple app. Absent for other apps, because a realm has only one Firebase project and one key pair
   * for Web Push.
   */
  ios_app_id: z.string().optional(),
  /** Number of the realm's registered devices. */
  devices: z.number().int(),
  trouble: z.enum(relayAppTroubles).nullable(),
});
export type RelayApp = z.infer<typeof relayApp>;

export const relayAppsParameters = z.object({ realm_uuid: uuid });

export const relayAppsAnswer = z.object({
  /** Whether the relay has credentials for at least one app. */
  has_credentials: z.boolean(),
  apps: z.array(relayApp),
});
export type RelayAppsAnswer = z.infer<typeof relayAppsAnswer>;
