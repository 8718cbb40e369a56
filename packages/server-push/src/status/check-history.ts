import type { Kysely } from 'kysely';
import type { AdminNames } from '../admin-names.js';
import { type RelayLinkStatus, readRelayLinkStatus } from '../relay-link/link-monitor.js';
import type { ServerPushTables } from '../tables.js';
import { failed, type PushCheck, passed, sentenceOf } from './push-check.js';

const hourMilliseconds = 3_600_000;

/**
 * Reports the running server's last result from the relay. With `answersNow`, an old failure is not a fault, because
 * the server sends its next request only when it has something to send.
 */
export async function checkHistory(
  db: Kysely<ServerPushTables>,
  {
    answersNow,
    names,
    now,
  }: { readonly answersNow: boolean; readonly names: AdminNames; readonly now: number },
): Promise<PushCheck[]> {
  const status = await readRelayLinkStatus(db);
  return [checkExchange(status, answersNow), checkRejection(status, names, now)];
}

function checkExchange(
  { state, lastSuccessAt, failingSince, lastError }: RelayLinkStatus,
  answersNow: boolean,
): PushCheck {
  if (state === 'failing') {
    const cause = `Requests to the relay have failed since ${instant(failingSince)}: ${lastError?.reason}`;
    if (answersNow) return passed('last exchange', `${sentenceOf(cause)} The relay answers now.`);
    const remedy = 'The server retries automatically; fix the cause that this or another check reports.';
    return failed('last exchange', sentenceOf(cause), remedy);
  }
  if (lastSuccessAt === undefined) {
    const now = answersNow
      ? 'the relay has answered this command'
      : 'the relay has not answered this command';
    return passed('last exchange', `No serving process has sent the relay a request yet; ${now}.`);
  }
  const before =
    lastError && ` The last error was at ${instant(lastError.at)}: ${sentenceOf(lastError.reason)}`;
  return passed('last exchange', `It succeeded at ${instant(lastSuccessAt)}.${before ?? ''}`);
}

/** Fails only for a recent rejection, because the cause of an older rejection may have been fixed since. */
function checkRejection({ lastRejection }: RelayLinkStatus, { push }: AdminNames, now: number): PushCheck {
  if (lastRejection === undefined) return passed('last rejection', 'The relay has rejected no notification.');
  const cause = `At ${instant(lastRejection.at)}: ${sentenceOf(lastRejection.reason)}`;
  if (now - lastRejection.at > hourMilliseconds) return passed('last rejection', cause);
  const remedy = `Fix the cause; ${push} test --user USER shows whether the problem persists.`;
  return failed('last rejection', cause, remedy);
}

function instant(milliseconds: number | undefined): string {
  return milliseconds === undefined ? 'an unknown time' : new Date(milliseconds).toISOString();
}
