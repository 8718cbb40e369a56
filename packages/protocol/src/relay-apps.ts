import { z } from 'zod';
import { tokenKinds } from './push-registration.js';
import { uuid } from './wire-fields.js';

/** Path of the relay's operation that reports which apps it can deliver to. A stock relay does not have it. */
export const relayAppsPath = '/api/v1/remotes/push/e2ee/apps';

/**
 * Why the relay cannot deliver to an app.
 *
 * - `no-credentials`: its operator has configured none for this app
 * - `credentials-refused`: the vendor refuses them
 * - `vendor-outage`: the vendor has accepted no notification of this app for a minute or more
 */
export const relayAppTroubles = ['no-credentials', 'credentials-refused', 'vendor-outage'] as const;

/** An app that devices of the realm use. */
export const relayApp = z.object({
  vendor: z.enum(tokenKinds),
  /** Bundle id of an Apple app. Others have none: a realm has one Firebase project, and one key pair for Web Push. */
  ios_app_id: z.string().optional(),
  /** Registered devices of the realm. */
  devices: z.number().int(),
  trouble: z.enum(relayAppTroubles).nullable(),
});
export type RelayApp = z.infer<typeof relayApp>;

export const relayAppsParameters = z.object({ realm_uuid: uuid });

export const relayAppsAnswer = z.object({
  /** Whether the relay has credentials for any app at all. */
  has_credentials: z.boolean(),
  apps: z.array(relayApp),
});
export type RelayAppsAnswer = z.infer<typeof relayAppsAnswer>;
