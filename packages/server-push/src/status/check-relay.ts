import {
  isJsonObject,
  type JsonObject,
  parseJsonOrUndefined,
  type RelayNotifyAnyAnswer,
  relayNotifyAnyAnswer,
} from '@waxwing/protocol';
import type { Clock, ConnectTrouble } from '@waxwing/service/lifecycle';
import type { AdminNames } from '../admin-names.js';
import { type ConfiguredRelay, withAccountLink } from '../relay-account/account-link.js';
import { realmPushStatusOf } from '../relay-link/realm-push-status.js';
import { printable } from '../relay-link/relay-answer.js';
import { relayCodeOf } from '../relay-link/relay-codes.js';
import type { ProbeAnswer } from '../relay-link/relay-exchange.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import type { PushRealm } from '../server-push-options.js';
import { failed, type PushCheck, passed, sentenceOf } from './push-check.js';

export interface CheckRelayOptions {
  readonly relay: ConfiguredRelay;
  /** Whether the relay comes from the settings. If not, it comes from `enable`. */
  readonly isFromSettings: boolean;
  readonly realm: Pick<PushRealm, 'uuid'>;
  readonly clock: Clock;
  readonly names: AdminNames;
}

/** A check that runs once the relay has accepted this server and its organization. */
export type FurtherCheck = (link: RelayLink) => Promise<readonly PushCheck[]>;

/**
 * Largest clock error that is not a fault. The relay accepts a registration's timestamp for a day, but a clock error of
 * minutes already shows that a clock is not synchronized.
 */
const maximumClockErrorMilliseconds = 5 * 60_000;

/**
 * Checks the network path to the relay, this server's credentials and the organization. Delivers nothing. Stops at the
 * first failure that makes later checks impossible. Does not reject if the relay fails.
 */
export async function checkRelay(
  options: CheckRelayOptions,
  further: readonly FurtherCheck[],
): Promise<PushCheck[]> {
  return withAccountLink(options, async (link) => {
    const answer = await link.probe();
    if ('step' in answer) return checkConnection(answer, options);
    const checks = [...wayIsOpen(options.relay), ...judgeAnswer(answer, options)];
    if (checks.some(({ ok }) => !ok)) return checks;
    for (const check of further) checks.push(...(await check(link)));
    return checks;
  });
}

function checkConnection(
  { step, what, remedy }: ConnectTrouble,
  { relay: { url }, isFromSettings, names: { push, prefix } }: CheckRelayOptions,
): PushCheck[] {
  const { hostname } = new URL(url);
  const before = wayIsOpen({ url }).slice(0, ['dns', 'connection', 'tls'].indexOf(step));
  const subject = step === 'dns' ? `The name ${hostname} cannot be found` : `${url} cannot be reached`;
  const setting = `the address is that of ${isFromSettings ? `${prefix}RELAY_URL` : `${push} enable --relay`}`;
  return [...before, failed(step, `${subject}: ${what}.`, `${sentenceOf(remedy).slice(0, -1)}; ${setting}.`)];
}

function wayIsOpen({ url }: Pick<ConfiguredRelay, 'url'>): PushCheck[] {
  const { hostname, protocol } = new URL(url);
  const isEncrypted = protocol === 'https:';
  return [
    passed('dns', `The name ${hostname} is known.`),
    passed('connection', `A connection to ${url} can be opened.`),
    passed('tls', isEncrypted ? 'Its certificate is trusted.' : 'Not used: the address begins with http://.'),
  ];
}

function judgeAnswer(answer: ProbeAnswer, options: CheckRelayOptions): PushCheck[] {
  const { status } = answer;
  const body = readBody(answer);
  const isRelay = status === 200 ? relayNotifyAnyAnswer.safeParse(body).success : body?.result === 'error';
  if (body === undefined || !isRelay || status === 404 || status === 405) {
    return [notARelay(options, status)];
  }
  const relayAnswers = passed('relay', `A relay answers at ${options.relay.url}.`);
  // Reports a wrong clock even if the relay refuses, so that the admin sees both problems at once.
  return [relayAnswers, checkClock(answer, options.clock()), ...judgeRefusal(status, body, options)];
}

function notARelay(options: CheckRelayOptions, status: number): PushCheck {
  const {
    relay: { url },
    isFromSettings,
    names: { push, prefix },
  } = options;
  if (status >= 500) {
    const cause = `${url} answers ${status}, but is not a relay: it may be a proxy whose relay is down.`;
    return failed('relay', cause, "Ask the relay's operator whether the relay runs.");
  }
  const detail = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  const remedy = isFromSettings
    ? `Set ${prefix}RELAY_URL to the address of the relay, without a path.`
    : `Run ${push} enable --relay with the address of the relay, without a path.`;
  return failed('relay', `${url} answers ${status}${detail}, but is not a relay.`, remedy);
}

function judgeRefusal(status: number, body: JsonObject, options: CheckRelayOptions): PushCheck[] {
  const {
    relay: { url, serverId },
    realm: { uuid: realmUuid },
  } = options;
  const said = typeof body.msg === 'string' ? printable(body.msg) : '';
  const accepted = passed('credentials', "The relay accepts this server's id and key.");
  // Relays report this state only to the holder of the key, with the error code for a wrong key but a different
  // message.
  const state = /deactivated|suspended/i.exec(said)?.[0].toLowerCase();
  if ((status === 401 || status === 403) && state !== undefined) {
    const remedy = remedyIfRefused(state, options);
    return [
      accepted,
      failed('server', sentenceOf(`This server is ${state} at the relay; it says: ${said}`), remedy),
    ];
  }
  if (status === 401 || body.code === 'INVALID_ZULIP_SERVER') {
    const cause = `The relay does not accept this server's id ${serverId} and its key; it says: ${said}`;
    return [failed('credentials', sentenceOf(cause), remedyOfCredentials(options))];
  }
  const active = passed('server', 'The relay serves this server.');
  const check = relayCodeOf(body.code, status)?.check;
  if (check === 'realm') {
    return [accepted, active, realmRefusal(body.code === 'MISSING_REMOTE_REALM', options)];
  }
  if (status === 429 || check === 'quota') {
    const remedy =
      'Wait a minute. If the problem recurs, ask the operator for a larger quota (RELAY_SERVER_NOTIFICATIONS_PER_MINUTE).';
    return [accepted, active, failed('quota', "This server's quota at the relay is used up.", remedy)];
  }
  if (check === 'permission') {
    const cause = sentenceOf(`The relay has switched push off; it says: ${said}`);
    return [accepted, active, failed('permission', cause, offRemedy)];
  }
  if (status !== 200) {
    const remedy =
      "Try again in a minute; if the problem persists, ask the relay's operator to look at its log.";
    return [failed('relay', sentenceOf(`The relay at ${url} answers ${status}: ${said}`), remedy)];
  }
  const realm = passed('realm', `The relay knows the organization ${realmUuid} as this server's.`);
  const quota = passed('quota', "This server's quota is not used up.");
  return [accepted, active, quota, realm, checkPermission(relayNotifyAnyAnswer.parse(body))];
}

function realmRefusal(isMissing: boolean, options: CheckRelayOptions): PushCheck {
  const {
    relay: { serverId },
    realm: { uuid: realmUuid },
    isFromSettings,
    names: { push },
  } = options;
  if (!isMissing) {
    return failed(
      'realm',
      `The organization ${realmUuid} belongs to another server at the relay.`,
      "Ask the relay's operator which server has registered this organization, and to remove it there.",
    );
  }
  const ask = isFromSettings ? 'Ask' : `Run ${push} enable again, or ask`;
  return failed(
    'realm',
    `The relay does not know the organization ${realmUuid}.`,
    `${ask} the relay's operator for waxwing-relay servers add-realm ${serverId} --realm ${realmUuid}.`,
  );
}

/** What an admin should do if the relay has switched push off. */
export const offRemedy =
  "Ask the relay's operator why, or look at this server's plan there. The server checks every five minutes, and resumes sending once the relay allows it.";

function checkPermission(answer: RelayNotifyAnyAnswer): PushCheck {
  const { canPush, endTimestamp } = realmPushStatusOf(answer);
  if (!canPush) {
    return failed('permission', 'The relay has switched push off for the organization.', offRemedy);
  }
  if (endTimestamp === null) return passed('permission', 'The relay delivers for the organization.');
  const until = instantOf(endTimestamp);
  return passed(
    'permission',
    `The relay delivers for the organization until ${until}, when it expects to stop.`,
  );
}

/** Formats a timestamp from the relay, which may be invalid. */
function instantOf(seconds: number): string {
  const instant = new Date(seconds * 1000);
  return Number.isNaN(instant.getTime()) ? `Unix second ${seconds}` : instant.toISOString();
}

/**
 * Says how to fix refused credentials. Mentions only the source in use, which is either the settings or the account
 * that `enable` created.
 */
function remedyOfCredentials({
  relay: { url, serverId },
  isFromSettings,
  names: { push, prefix },
}: CheckRelayOptions): string {
  if (isFromSettings) {
    return `Check ${prefix}RELAY_SERVER_ID and ${prefix}RELAY_SERVER_KEY_FILE. If that does not help, ask the relay's operator for waxwing-relay servers rotate-key ${serverId}, and write the key that it prints to that file.`;
  }
  return `Run ${push} enable --relay ${url} --transfer, with the --hostname that it joined with, while the server runs: that gives it a new key. If the relay's operator has removed this server, run ${push} enable --relay ${url} with a new invitation.`;
}

function remedyIfRefused(
  state: string,
  { relay: { serverId }, isFromSettings, names: { push } }: CheckRelayOptions,
): string {
  const resume = `ask the relay's operator to reactivate this server: waxwing-relay servers resume ${serverId}.`;
  if (state !== 'deactivated' || isFromSettings) return sentenceOf(resume);
  return `Run ${push} enable again; if that does not help, ${resume}`;
}

function checkClock({ date }: ProbeAnswer, now: number): PushCheck {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return passed('clock', 'The relay does not report its time.');
  const seconds = Math.round(Math.abs(theirs - now) / 1000);
  if (seconds * 1000 <= maximumClockErrorMilliseconds) {
    return passed('clock', "This server's clock and the relay's agree.");
  }
  const which = theirs > now ? 'behind' : 'ahead of';
  return failed(
    'clock',
    `This server's clock is ${seconds} s ${which} the relay's.`,
    'Correct the wrong clock, for example with NTP: otherwise registrations are refused as expired.',
  );
}

function readBody({ body }: ProbeAnswer): JsonObject | undefined {
  const value = body === undefined ? undefined : parseJsonOrUndefined(body);
  return isJsonObject(value) ? value : undefined;
}
