import type { ApnsEnvironment } from '@waxwing/protocol';
import type { AppRegistry } from '../apps/app-registry.js';
import type { CredentialBreakers } from '../breakers/credential-breakers.js';
import type { Vendor } from '../delivery.js';
import type { VendorOutages } from './vendor-outages.js';

/** An app in the apps file, with its delivery state since this process started. */
export interface AppState {
  /** The app's id, as in `AppRoute`. */
  readonly appId: string;
  readonly vendor: Vendor;
  /** Apple's environment; `undefined` for other vendors. */
  readonly environment: ApnsEnvironment | undefined;
  /** When the vendor last accepted the app's credential, in Unix milliseconds; `undefined` if never. */
  readonly lastSuccessAt: number | undefined;
  /** State of the credential's circuit breaker. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  readonly lastError: string | undefined;
}

export interface AppStatesOptions {
  readonly apps: Pick<AppRegistry, 'routes'>;
  readonly credentials: Pick<CredentialBreakers, 'stateOf'>;
  readonly outages: Pick<VendorOutages, 'lastWorkedAt' | 'describe'>;
}

export function describeApps({ apps, credentials, outages }: AppStatesOptions): AppState[] {
  return apps.routes.map(({ appId, vendor, credential }) => {
    const { state, reason } = credentials.stateOf(appId);
    return {
      appId,
      vendor,
      environment: vendor !== 'apns' ? undefined : appId.endsWith(':sandbox') ? 'sandbox' : 'production',
      lastSuccessAt: outages.lastWorkedAt(credential),
      breaker: state,
      lastError: reason ?? outages.describe(appId),
    };
  });
}
