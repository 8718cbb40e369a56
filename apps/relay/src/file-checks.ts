import { readAuthorities, type StartCheck } from '@waxwing/service/config';
import { AdminToken } from '@waxwing/service/dashboard';
import type { RelayConfiguration } from './configuration.js';
import { apnsAuthoritiesSetting } from './deliveries/apps/app-registry.js';
import { readConfiguredApps } from './deliveries/apps/read-configured-apps.js';
import { auditLogStartCheck } from './keyring/check-stored-ring.js';
import { authoritiesSetting } from './network/outgoing-authorities.js';

/**
 * Checks the files that the settings name, except the key ring: credentials, authorities, the dashboard token and the
 * audit log.
 */
export function relayFileChecks({
  deliveries,
  caFile,
  dashboard,
  keyRing,
}: RelayConfiguration): StartCheck[] {
  const { apnsCaFile, apps } = deliveries;
  return [
    {
      name: 'apps',
      async check() {
        if (apps.kind === 'not-configured') return 'RELAY_APPS_FILE is not set: nothing is delivered';
        await readConfiguredApps(deliveries);
        return undefined;
      },
    },
    authoritiesCheck('authorities', caFile, authoritiesSetting),
    authoritiesCheck('apns-authorities', apnsCaFile, apnsAuthoritiesSetting),
    dashboard.kind === 'off' ? undefined : tokenCheck(dashboard.tokenFile),
    auditLogStartCheck(keyRing),
  ].filter((check) => check !== undefined);
}

function tokenCheck(file: string): StartCheck {
  return {
    name: 'admin-token',
    async check() {
      await AdminToken.open(file);
      return undefined;
    },
  };
}

function authoritiesCheck(name: string, file: string | undefined, setting: string): StartCheck | undefined {
  if (file === undefined) return undefined;
  return {
    name,
    async check() {
      await readAuthorities(file, setting);
      return undefined;
    },
  };
}
