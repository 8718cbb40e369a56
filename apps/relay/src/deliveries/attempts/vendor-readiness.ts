import type { ReadinessWarning } from '@waxwing/service/http';
import type { AppRegistry } from '../apps/app-registry.js';
import type { CredentialBreakers } from '../breakers/credential-breakers.js';
import type { VendorOutages } from './vendor-outages.js';

export interface VendorReadinessOptions {
  readonly apps: Pick<AppRegistry, 'credentials'>;
  readonly credentials: Pick<CredentialBreakers, 'troubles'>;
  readonly outages: Pick<VendorOutages, 'troubles' | 'hasWorkedSince'>;
}

/**
 * Readiness check of a relay: describes all refused credentials and failing vendors in one sentence. Returns only a
 * warning if at least one credential of the apps file is not known to fail, so that a load balancer keeps sending
 * requests for the other apps.
 */
export function vendorReadiness(options: VendorReadinessOptions): string | ReadinessWarning | undefined {
  const { apps, credentials, outages } = options;
  const troubles = [...credentials.troubles(), ...outages.troubles()];
  if (troubles.length === 0) return undefined;
  const sentence = troubles.map((trouble) => trouble.sentence).join('; ');
  // Ignores credentials that have worked since the trouble began: a credential may fail for only one of its apps.
  const failing = troubles.filter(({ credential, since }) => !outages.hasWorkedSince(credential, since));
  const names = new Set(failing.map(({ credential }) => credential));
  return apps.credentials.every((credential) => names.has(credential)) ? sentence : { warning: sentence };
}
