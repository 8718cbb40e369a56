import type { DatabaseWithJobs } from '@waxwing/jobs';
import { ConfigurationError } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { type AdminNames, enableRemedy } from '../admin-names.js';
import { capitalized } from '../capitalized.js';
import { allAccounts } from '../relay-account/account-store.js';
import type { PushRealm, RelayAccount } from '../server-push-options.js';
import type { AccountSettings } from '../settings/account-settings.js';
import { type FoundAccount, findRelayAccount } from '../settings/find-relay-account.js';
import type { ServerPushTables } from '../tables.js';
import { checkPush } from './check-push.js';
import { asCheck, failed, type PushCheck, passed } from './push-check.js';

export interface CheckConfiguredPushOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly settings: AccountSettings;
  readonly realm: PushRealm;
  readonly sodium: Sodium;
  readonly names: AdminNames;
  readonly clock: Clock;
}

/** Checks push end to end, from the configuration to the phones. Each failed check says how to fix the problem. */
export async function checkConfiguredPush({
  database,
  settings,
  realm,
  sodium,
  names,
  clock,
}: CheckConfiguredPushOptions): Promise<PushCheck[]> {
  let found: FoundAccount | undefined;
  let problems: readonly PushCheck[];
  const isFromSettings = settings.relay.kind === 'configured';
  try {
    found = await findRelayAccount(database, settings, names);
    problems = [await checkConfiguration(database, found.account, { isFromSettings, names })];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    problems = error.problems.map((problem) => asCheck(problem));
  }
  const relay = found?.account.kind === 'configured' ? found.account : undefined;
  const pinnedSigningKey = found?.pinnedSigningKey;
  const options = { database, relay, isFromSettings, realm, pinnedSigningKey, sodium, clock, names };
  return [...problems, ...(await checkPush(options))];
}

async function checkConfiguration(
  { db }: DatabaseWithJobs<ServerPushTables>,
  account: RelayAccount,
  { isFromSettings, names }: { readonly isFromSettings: boolean; readonly names: AdminNames },
): Promise<PushCheck> {
  const { push, prefix } = names;
  const check = 'configuration';
  if (account.kind === 'configured') {
    const source = isFromSettings ? `the ${prefix}RELAY_ settings` : `${push} enable`;
    return passed(check, `The relay is ${account.url}, by ${source}.`);
  }
  const [newest] = await allAccounts(db);
  const remedy = `${capitalized(enableRemedy(names))}.`;
  if (newest?.state === 'joining') {
    return failed(
      check,
      `Joining ${newest.url} has begun but did not finish, so devices cannot register.`,
      `Run ${push} enable --relay ${newest.url} again: it continues with the same credentials.`,
    );
  }
  if (newest?.state === 'leaving') {
    return failed(
      check,
      `Push was disabled, but the relay ${newest.url} does not know that yet.`,
      `Run ${push} disable again to finish, or ${push} enable --relay ${newest.url} to use it again.`,
    );
  }
  if (newest?.state === 'disabled') {
    return failed(
      check,
      `Push was disabled; the relay was ${newest.url}.`,
      `Run ${push} enable --relay ${newest.url} to use it again.`,
    );
  }
  return failed(check, 'No relay is configured, so devices cannot register.', remedy);
}
