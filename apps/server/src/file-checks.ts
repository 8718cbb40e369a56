import { readRelayKey } from '@waxwing/server-push';
import { readAuthorities, type StartCheck } from '@waxwing/service/config';
import type { ServerConfiguration } from './configuration.js';
import { adminNames } from './push/admin-names.js';

/** The files of the settings: the server's key for the relay, and certificate authorities. */
export function serverFileChecks({ relay, relayNetwork: { caFile } }: ServerConfiguration): StartCheck[] {
  const checks: StartCheck[] = [];
  if (relay.kind === 'configured') {
    checks.push({
      name: 'relay-key',
      async check() {
        await readRelayKey(relay, adminNames);
        return undefined;
      },
    });
  }
  if (caFile !== undefined) {
    checks.push({
      name: 'relay-authorities',
      async check() {
        await readAuthorities(caFile, `${adminNames.prefix}RELAY_CA_FILE`);
        return undefined;
      },
    });
  }
  return checks;
}
