import {
  decodeBase64,
  isJsonObject,
  type JsonObject,
  parseJsonOrUndefined,
  parseKeyListDocument,
  relayNotifyAnyAnswer,
} from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { PushRealm, RelayAccount } from '../server-push-options.js';
import { printable, type RelayOutcome } from './relay-answer.js';
import { type ProbeAnswer, RelayLink } from './relay-link.js';

/** Checked aspects of the link to the relay. */
type RelayCheckName = 'address' | 'key' | 'server' | 'realm' | 'clock' | 'key-list';

/** Result of one check. */
export interface RelayCheck {
  readonly name: RelayCheckName;
  readonly ok: boolean;
  /** The finding; if `ok` is false, also what to do. */
  readonly sentence: string;
}

/** Options of {@link checkRelay}. */
export interface CheckRelayOptions {
  readonly relay: Extract<RelayAccount, { kind: 'configured' }>;
  readonly realm: Pick<PushRealm, 'uuid'>;
  readonly clock: Clock;
}

const timeoutMilliseconds = 10_000;
/** The relay accepts registrations for a day by their timestamp, but a larger clock error is a fault anyway. */
const mostClockErrorMilliseconds = 5 * 60_000;

/**
 * Checks the link to the relay with this server's credentials: address, key, realm, clock and key list. Delivers
 * nothing. Stops at the first failure that makes later checks impossible; never rejects because of the relay. Takes at
 * most 10 seconds per request.
 */
export async function checkRelay({ relay, realm, clock }: CheckRelayOptions): Promise<RelayCheck[]> {
  const { Agent } = await import('undici');
  const dispatcher = new Agent();
  const monitor = { report: async () => undefined };
  const link = new RelayLink({
    relay,
    realmUuid: realm.uuid,
    dispatcher,
    timeoutMilliseconds,
    clock,
    monitor,
  });
  try {
    const answer = await link.probe();
    if ('kind' in answer) return [failed('address', `${answer.reason}; SERVER_RELAY_URL names it.`)];
    const checks = judgeAnswer(answer, relay, realm.uuid);
    if (checks.some(({ ok }) => !ok)) return checks;
    return [...checks, checkClock(answer, clock()), checkKeyList(await link.fetchKeyList(), clock())];
  } finally {
    await dispatcher.destroy();
  }
}

function judgeAnswer(
  answer: ProbeAnswer,
  { url, serverId }: Pick<CheckRelayOptions['relay'], 'url' | 'serverId'>,
  realmUuid: string,
): RelayCheck[] {
  const { status } = answer;
  const body = readBody(answer);
  const isRelay = status === 200 ? relayNotifyAnyAnswer.safeParse(body).success : body?.result === 'error';
  if (body === undefined || !isRelay || status === 404 || status === 405) {
    const what = `${url} answers ${status}, but not as a relay does`;
    return [failed('address', `${what}: set SERVER_RELAY_URL to the address of the relay, without a path.`)];
  }
  const address = passed('address', `A relay answers at ${url}.`);
  const said = typeof body.msg === 'string' && body.msg !== '' ? printable(body.msg) : `HTTP ${status}`;
  // Relays say so only to the holder of the key, and with the code of a wrong key.
  if (status === 401 && /deactivated|suspended/i.test(said)) {
    const remedy = `ask its operator to let this server in again (waxwing-relay servers resume ${serverId})`;
    const sentence = `The relay says: ${said}: ${remedy}.`;
    return [address, passed('key', keyIsFine), failed('server', sentence)];
  }
  if (status === 401) {
    const remedy =
      'check SERVER_RELAY_SERVER_ID and SERVER_RELAY_SERVER_KEY_FILE, or ask its operator for a new key (waxwing-relay servers rotate-key)';
    return [
      address,
      failed(
        'key',
        `The relay does not accept this server's id and key. It says: ${said}. To mend it, ${remedy}.`,
      ),
    ];
  }
  if (body.code === 'MISSING_REMOTE_REALM' || body.code === 'REMOTE_REALM_SERVER_MISMATCH_ERROR') {
    const remedy = `ask its operator to add the realm ${realmUuid} to this server (waxwing-relay servers add-realm)`;
    return [address, passed('key', keyIsFine), failed('realm', `The relay says: ${said}: ${remedy}.`)];
  }
  if (status !== 200) {
    return [
      address,
      failed('key', `The relay answers ${status}: ${said}: ask its operator, or try again later.`),
    ];
  }
  const realm = passed('realm', `The relay knows the realm ${realmUuid} as this server's.`);
  return [address, passed('key', keyIsFine), realm];
}

const keyIsFine = "The relay accepts this server's id and key.";

function checkClock({ date }: ProbeAnswer, now: number): RelayCheck {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return passed('clock', 'The relay does not say what time it is.');
  const seconds = Math.round(Math.abs(theirs - now) / 1000);
  if (seconds * 1000 <= mostClockErrorMilliseconds) {
    return passed('clock', "This server's clock and the relay's agree.");
  }
  const which = theirs > now ? 'behind' : 'ahead of';
  const sentence = `This server's clock is ${seconds} s ${which} the relay's: set the wrong one right, or registrations are refused as expired.`;
  return failed('clock', sentence);
}

function checkKeyList(outcome: RelayOutcome<{ readonly key_list: string }>, now: number): RelayCheck {
  if (outcome.kind === 'refused-for-good') {
    return passed(
      'key-list',
      'The relay publishes no key list, as stock ones do not: phones use the key in the app.',
    );
  }
  if (outcome.kind === 'retry') {
    return failed(
      'key-list',
      `The key list cannot be had, since ${outcome.reason}: ask the relay's operator.`,
    );
  }
  const bytes = decodeBase64(outcome.answer.key_list) ?? new Uint8Array();
  const list = parseKeyListDocument(parseJsonOrUndefined(new TextDecoder().decode(bytes)));
  if (list === undefined || list.expires_at * 1000 <= now) {
    const what = list === undefined ? 'is none' : 'has expired';
    return failed(
      'key-list',
      `The key list ${what}: phones do not follow it; ask the relay's operator to run waxwing-relay keys verify.`,
    );
  }
  const until = new Date(list.expires_at * 1000).toISOString();
  return passed('key-list', `The relay's key list is valid until ${until}.`);
}

function readBody({ body }: ProbeAnswer): JsonObject | undefined {
  const value = body === undefined ? undefined : parseJsonOrUndefined(body);
  return isJsonObject(value) ? value : undefined;
}

const passed = (name: RelayCheckName, sentence: string): RelayCheck => ({ name, ok: true, sentence });
const failed = (name: RelayCheckName, sentence: string): RelayCheck => ({ name, ok: false, sentence });
