import type { ApnsEnvironment, RelayApp, RelayAppsAnswer } from '@waxwing/protocol';
import { sql } from 'kysely';
import type { Realm } from '../../servers/find-realm.js';
import type { RelayDatabase } from '../../tables.js';
import type { AppRegistry, AppRoute } from '../apps/app-registry.js';
import type { VendorOutages } from '../attempts/vendor-outages.js';
import type { CredentialBreakers } from '../breakers/credential-breakers.js';

export interface RealmAppsOptions {
  readonly apps: AppRegistry;
  readonly credentials: Pick<CredentialBreakers, 'isRefused'>;
  readonly outages: Pick<VendorOutages, 'isFailing'>;
  readonly database: RelayDatabase;
}

interface AppDevices {
  readonly token_kind: string;
  readonly ios_app_id: string | null;
  readonly apns_environment: string | null;
  readonly devices: number;
}

/** Resolves to the apps of one realm's devices, and whether the relay can deliver to each app. */
export async function findRealmApps(
  { apps, credentials, outages, database }: RealmAppsOptions,
  { serverId, realmId, realmUuid }: Realm & { readonly serverId: string },
): Promise<RelayAppsAnswer> {
  const rows = await database.db
    .selectFrom('relay_devices')
    .select(['token_kind', 'ios_app_id', 'apns_environment', sql<number>`count(*)`.as('devices')])
    .where('realm_id', '=', realmId)
    .where('expired_at', 'is', null)
    .groupBy(['token_kind', 'ios_app_id', 'apns_environment'])
    .orderBy('token_kind')
    .orderBy('ios_app_id')
    .execute();
  const troubleOf = (route: AppRoute | undefined): RelayApp['trouble'] => {
    if (route === undefined) return 'no-credentials';
    if (credentials.isRefused(route.appId)) return 'credentials-refused';
    return outages.isFailing(route.appId) ? 'vendor-outage' : null;
  };
  const describe = ({ token_kind, ios_app_id, apns_environment, devices }: AppDevices): RelayApp => {
    if (token_kind === 'webpush') {
      const trouble = troubleOf(apps.findWebPush(serverId, realmUuid));
      return { vendor: 'webpush', devices: Number(devices), trouble };
    }
    if (token_kind === 'fcm' || ios_app_id === null) {
      const trouble = troubleOf(apps.findFcm(serverId, realmUuid));
      return { vendor: 'fcm', devices: Number(devices), trouble };
    }
    const environment = (apns_environment ?? 'production') as ApnsEnvironment;
    const trouble = troubleOf(apps.findApns(ios_app_id, environment));
    return { vendor: 'apns', ios_app_id, devices: Number(devices), trouble };
  };
  return { has_credentials: apps.entries.length > 0, apps: rows.map(describe) };
}
