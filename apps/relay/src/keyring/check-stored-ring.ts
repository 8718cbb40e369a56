import type { StartCheck } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { KeyRingKeeper } from './live/key-ring-keeper.js';
import { auditFile, requireAuditFile } from './storage/audit-log.js';
import type { KeyRingConfiguration } from './storage/key-ring-configuration.js';
import { keyRingFile } from './storage/key-ring-file.js';
import { keyRingRow } from './storage/key-ring-row.js';
import type { KeyRingDatabase } from './storage/key-ring-tables.js';

/**
 * Opens the stored key ring as the relay does at startup, but does not change it. Resolves to `undefined`. If the ring
 * is in the database but `database` is `undefined`, resolves to a note instead.
 * @throws ConfigurationError, or ClockDoubtError if the clock is far from the times in the ring.
 */
export async function checkStoredRing(
  { location, unlock, policy, confirmedDay, auditLog }: KeyRingConfiguration,
  clock: Clock,
  database: KeyRingDatabase | undefined,
): Promise<string | undefined> {
  const store = location.kind === 'file' ? keyRingFile(location.path) : database && keyRingRow(database);
  if (store === undefined) return 'not read, because the tables of the database are not up to date';
  const { sodium } = await loadFastestSodium();
  const audit = auditFile(auditLog);
  const keeper = new KeyRingKeeper({ store, unlock, policy, confirmedDay, sodium, clock, audit });
  await keeper.look((ring) => keeper.requireClockOf(ring));
  return undefined;
}

/** Start check `audit-log`: changes to the key ring can be recorded. */
export function auditLogStartCheck({ auditLog }: Pick<KeyRingConfiguration, 'auditLog'>): StartCheck {
  return {
    name: 'audit-log',
    async check() {
      await requireAuditFile(auditLog);
      return undefined;
    },
  };
}
