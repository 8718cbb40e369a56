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
 * Readiness check of the relay. Describes all refused credentials and failing vendors in one sentence. Returns only a
 * warning while at least one credential in the apps file is not known to fail, so that load balancers keep sending
 * requests for the other apps.
 */
export function vendorReadiness(options: VendorReadinessOptions): string | ReadinessWarning | undefined {
  const { apps, credentials, outages } = options;
  const troubles = [...credentials.troubles(), ...outages.troubles()];
  if (troubles.length === 0) return undefined;
  const sentence = troubles.map((trouble) => trouble.sentence).join('; ');
  // Ignore credentials that have worked since the trouble began: a credential may fail for only one of its apps.
  const failing = troubles.filter(({ credential, since }) => !outages.hasWorkedSince(credential, since));
  const names = new Set(failing.map(({ credential }) => credential));
  return apps.credentials.every((credential) => names.has(credential)) ? sentence : { warning: sentence };
}
