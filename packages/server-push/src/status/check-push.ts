import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import type { AdminNames } from '../admin-names.js';
import type { ConfiguredRelay } from '../relay-account/account-link.js';
import type { PushRealm } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import { checkApps } from './check-apps.js';
import { checkDevices } from './check-devices.js';
import { checkHistory } from './check-history.js';
import { checkJobs } from './check-jobs.js';
import { checkKeyList } from './check-key-list.js';
import { checkRelay } from './check-relay.js';
import type { PushCheck } from './push-check.js';

export interface CheckPushOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** The relay; `undefined` if there is none or it cannot be used. The checks that need the relay are then omitted. */
  readonly relay: ConfiguredRelay | undefined;
  /** Whether the relay comes from the settings. If not, it comes from `enable`. */
  readonly isFromSettings: boolean;
  readonly realm: Pick<PushRealm, 'uuid'>;
  /** The relay's pinned signing key; `undefined` if no key is pinned. */
  readonly pinnedSigningKey: string | undefined;
  readonly sodium: Sodium;
  readonly clock: Clock;
  readonly names: AdminNames;
}

/**
 * Checks push end to end: first the relay, then the state in this server's database. Each failed check says how to fix
 * the problem.
 */
export async function checkPush(options: CheckPushOptions): Promise<PushCheck[]> {
  const { database, relay, isFromSettings, realm, clock, sodium, names } = options;
  const { pinnedSigningKey: pinned } = options;
  const now = clock();
  const atRelay = [
    (link) => checkKeyList(link, { sodium, now, pinned, names }),
    (link) => checkApps(link),
  ] satisfies Parameters<typeof checkRelay>[1];
  const here = async () => [...(await checkJobs(database, names, now)), ...(await checkDevices(database.db))];
  if (relay === undefined) return here();
  const there = await checkRelay({ relay, isFromSettings, realm, clock, names }, atRelay);
  const answersNow = there.every(({ ok }) => ok);
  return [...there, ...(await here()), ...(await checkHistory(database.db, { answersNow, names, now }))];
}
